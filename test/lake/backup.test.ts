import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { backUp } from '../../src/beyond/keep/copy-lake.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { temporaryFolder } from '../pipelines/support.js';

it.each([
  // The name itself is short enough, but not the name of the folder in which the copy is made.
  ['x'.repeat(250), 'ENAMETOOLONG'],
  ['file/x', 'E(EXIST|NOTDIR)'],
])('a copy to %s fails with %s, names its place, and leaves nothing', async (name, problem) => {
  const folder = temporaryFolder();
  const output = join(folder.path, 'output');
  mkdirSync(join(output, 'landing'), { recursive: true });
  writeFileSync(join(output, 'landing', 'page'), 'landed');
  const connection = await (await DuckDBInstance.create()).connect();
  const { signal } = new AbortController();
  writeFileSync(join(folder.path, 'file'), 'mine');
  const to = join(folder.path, name);
  const made = backUp(connection, layoutOf(output), { to, force: false, now: new Date(), signal });
  await expect(made).rejects.toMatchObject({
    code: 'LAKE_BACKUP',
    message: expect.stringMatching(`${name} cannot be made: ${problem}`),
    hint: expect.stringContaining('nothing is left of the copy'),
  });
  expect(readdirSync(folder.path).sort()).toEqual(['file', 'output']);
  connection.closeSync();
  folder.remove();
});
