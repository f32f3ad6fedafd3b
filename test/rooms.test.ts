import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

/**
 * The phases of a run in the order in which they import one another: extract lands and loads each page as it comes. Each has one
 * door, `step.ts`.
 */
const PHASES = ['land', 'load', 'extract', 'reconcile', 'model', 'publish', 'rebuild'];

/** The folders of `src` in their groups, and the pipelines. Each imports only from folders before it. */
const ORDER = [
  ...['config', 'duck'].map((name) => `src/base/${name}`),
  ...['service', 'lake', 'job'].map((name) => `src/core/${name}`),
  ...PHASES.map((name) => `src/core/${name}`),
  ...['query', 'page', 'docs', 'report', 'export', 'explore'].map((name) => `src/ask/${name}`),
  ...['spark', 'keep', 'iceberg', 'mirror', 'sync', 'agents', 'notify', 'beside.ts'].map(
    (name) => `src/beyond/${name}`,
  ),
  ...['src/sandbox', 'pipelines', 'src/library', 'src/index.ts', 'src/cli'],
];

const placeOf = (path: string): number =>
  ORDER.findIndex((room) => path === room || path.startsWith(`${room}/`));

/** Each import of a file of `src` or of the pipelines: the file, and what it reads. */
const imports = ['src', 'pipelines']
  .flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)))
  .filter((name) => name.endsWith('.ts'))
  .flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']*)'/g)].map(([, path = '']) => ({
      file,
      read: relative('.', join(dirname(file), path)),
    })),
  );

it('each folder imports only from folders before it, and every folder has its place', () => {
  const wrong = imports.filter(({ file, read }) => placeOf(file) < 0 || placeOf(read) > placeOf(file));
  expect(wrong).toEqual([]);
});

it('pipelines and other phases enter a phase by its door alone', () => {
  const phaseOf = (path: string): string | undefined =>
    PHASES.find((name) => path.startsWith(`src/core/${name}/`));
  const isOfRun = (file: string): boolean => /^(src\/core|pipelines)\//.test(file);
  const wrong = imports.filter(({ file, read }) => {
    const phase = phaseOf(read);
    return isOfRun(file) && phase !== undefined && phase !== phaseOf(file) && !read.endsWith('/step.js');
  });
  expect(wrong).toEqual([]);
});
