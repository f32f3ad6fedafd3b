import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { snapshotFolder } from '../../src/ask/query/open-lake.js';
import { docs } from '../../src/cli/commands/docs.js';
import { readManifest } from '../../src/core/lake/manifest.js';
import { effectsIn } from '../cli/support.js';
import { configFor, temporaryFolder } from '../pipelines/support.js';
import { smallLake } from './small-lake.js';

const folder = temporaryFolder();
const config = configFor('http://127.0.0.1:1/api', folder.path);
beforeAll(() => smallLake(folder.path));
afterAll(() => folder.remove());

/** Runs the command and returns its output. */
async function run(options: Parameters<typeof docs.run>[0]): Promise<string> {
  const { effects, out } = effectsIn(folder.path);
  await docs.run({ to: undefined, json: false, output: folder.path, ...options }, effects);
  return out();
}

it('describes every table and mart of the snapshot, with all columns', async () => {
  const path = join(folder.path, 'tables.md');
  expect(await run({})).toBe(`${path}\n`);
  const text = readFileSync(path, 'utf8');
  const { tables, marts, views } = readManifest(snapshotFolder(config));
  for (const [name, { columns }] of Object.entries({ ...tables, ...marts, ...views })) {
    const section = text.split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? '';
    for (const column of columns) expect(section, name).toContain(`| \`${column.name}\` |`);
  }
  expect(text).toContain('`unique(lot_id, attempt)`');
  expect(text).toContain('flowchart LR');
  expect(await run({ json: true })).toBe(`${JSON.stringify({ markdown: path })}\n`);
});

it('describes what a run makes where there is no lake', async () => {
  const output = join(folder.path, 'none');
  expect(await run({ to: 'all.md', output })).toBe(`${join(folder.path, 'all.md')}\n`);
  expect(readFileSync(join(folder.path, 'all.md'), 'utf8')).toMatch(/^# Tables and marts\n/);
  expect(existsSync(output)).toBe(false);
});

it('replaces no file that it did not write', async () => {
  writeFileSync(join(folder.path, 'mine.md'), 'mine');
  await expect(run({ to: 'mine.md' })).rejects.toMatchObject({ code: 'QUERY_PLACE' });
});
