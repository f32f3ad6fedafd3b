import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { rejectsFile } from '../../src/core/lake/staged.js';
import { discardStaged } from '../../src/core/load/loader.js';
import { temporaryFolder } from '../pipelines/support.js';

it('only the staged rows of an abandoned pass are removed', () => {
  const folder = temporaryFolder();
  const files = (pass: string): string[] => [
    `vehicles/${pass}-00000.parquet`,
    `lots/${pass}-00001.parquet`,
    `lots/_domain=3/_month=2026-11/${pass}-00000-0.parquet`,
    relative(folder.path, rejectsFile(folder.path, pass)),
  ];
  for (const file of [...files('given-up'), ...files('other')]) {
    mkdirSync(dirname(join(folder.path, file)), { recursive: true });
    writeFileSync(join(folder.path, file), '');
  }

  discardStaged(folder.path, 'given-up');

  const left = readdirSync(folder.path, { recursive: true, encoding: 'utf8' });
  expect(left.filter((path) => /\.(parquet|ndjson)$/.test(path)).sort()).toEqual(files('other').sort());
  folder.remove();
});
