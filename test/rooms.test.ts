import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

/** The folders of `src`, in groups, and then the pipelines. Each imports only from folders before it. */
const ORDER = [
  ...['config', 'duck', 'service', 'extract', 'land', 'lake', 'load', 'reconcile', 'model', 'publish', 'run'],
  ...['query', 'docs', 'report', 'export', 'spark', 'iceberg', 'mirror', 'notify', 'beyond'],
  ...['sandbox', 'pipelines', 'library', 'index.ts', 'cli'],
];

const roomOf = (path: string): string =>
  ORDER.find((room) => [join('src', room), room].some((at) => path === at || path.startsWith(`${at}/`))) ??
  '';

it('each folder imports only from folders before it, and every folder has its place', () => {
  const files = ['src', 'pipelines'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
  );
  const wrong: string[] = [];
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const place = ORDER.indexOf(roomOf(file));
    if (place < 0) wrong.push(`${file} is in no folder of the order`);
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']*)'/g)) {
      const read = relative('.', join(dirname(file), path));
      if (ORDER.indexOf(roomOf(read)) > place) wrong.push(`${file} imports ${read}`);
    }
  }
  expect(wrong).toEqual([]);
});
