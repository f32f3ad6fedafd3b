import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

/** The folders of `src` in their groups, and the pipelines. Each imports only from folders before it. */
const ORDER = [
  ...['config', 'duck', 'pricing'].map((name) => `src/base/${name}`),
  ...['service', 'extract', 'land', 'lake', 'load', 'reconcile', 'model', 'publish', 'run'].map(
    (name) => `src/core/${name}`,
  ),
  ...['query', 'docs', 'report', 'export', 'explore'].map((name) => `src/ask/${name}`),
  ...['spark', 'keep', 'iceberg', 'mirror', 'notify', 'beside.ts'].map((name) => `src/beyond/${name}`),
  ...['src/sandbox', 'pipelines', 'src/library', 'src/index.ts', 'src/cli'],
];

const placeOf = (path: string): number =>
  ORDER.findIndex((room) => path === room || path.startsWith(`${room}/`));

it('each folder imports only from folders before it, and every folder has its place', () => {
  const files = ['src', 'pipelines'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
  );
  const wrong: string[] = [];
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const place = placeOf(file);
    if (place < 0) wrong.push(`${file} is in no folder of the order`);
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']*)'/g)) {
      const read = relative('.', join(dirname(file), path));
      if (placeOf(read) > place) wrong.push(`${file} imports ${read}`);
    }
  }
  expect(wrong).toEqual([]);
});
