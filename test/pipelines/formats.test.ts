import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { SCHEMA_VERSION } from '../../src/core/lake/manifest.js';
import { runLotlake } from '../cli/support.js';
import { readLake, rowsOf, type Stage, setUp } from './world-oracle.js';

let stage: Stage;
let manifest: string;
beforeAll(async () => {
  stage = await setUp({ vehicles: 8, seed: 5, clock: new Date('2026-11-18T02:00:00Z') });
  await stage.night();
  manifest = join(stage.output, 'lake', 'current', 'manifest.json');
});
afterAll(() => stage.close());

/** Changes members of a JSON file. Returns a function that takes the change back. */
function change(path: string, members: object): () => void {
  const text = readFileSync(path, 'utf8');
  const put = (content: string): void => {
    // Files of a lake may be links to others.
    rmSync(path);
    writeFileSync(path, content);
  };
  put(JSON.stringify({ ...JSON.parse(text), ...members }));
  return () => put(text);
}

const COMMANDS = [
  ['query', 'select 1'],
  ['vacuum'],
  ['verify'],
  ['status'],
  ['report'],
  ['explore', '--export', 'x'],
];

it.each([
  ['later', SCHEMA_VERSION + 1, 'LAKE_FORMAT', /install that version/],
  ['earlier', SCHEMA_VERSION - 1, 'LAKE_UNSOUND', /rebuild/],
])('a lake of a %s format is named by every command, and stays as it is', async (_, format, code, next) => {
  const back = change(manifest, { schema_version: format, lotlake_version: '9.1.0' });
  await expect(stage.run(nightly)).rejects.toMatchObject({ code });
  for (const command of COMMANDS) {
    const answer = runLotlake(stage.output, ...command);
    expect(answer.err + answer.out, command.join(' ')).toContain(
      `has format ${format}, written by lotlake 9.1.0`,
    );
    expect(answer.err + answer.out, command.join(' ')).toMatch(next);
    expect(answer.code, command.join(' ')).toBeGreaterThan(0);
  }
  expect(readdirSync(join(stage.output, 'lake', 'snapshots'))).toHaveLength(1);
  back();
});

it('a landing of this format makes a lake of an earlier one again', async () => {
  const lots = rowsOf(await readLake(stage.output), 'lots');
  change(manifest, { schema_version: SCHEMA_VERSION - 1 });
  const { result } = await stage.run(rebuild);
  expect(result.manifest.schema_version).toBe(SCHEMA_VERSION);
  expect(rowsOf(await readLake(stage.output), 'lots')).toEqual(lots);
});

it('a pass of another format is named, and no rebuild does without it in silence', async () => {
  const cars = join(stage.output, 'landing', 'cars');
  const [pass = ''] = readdirSync(cars);
  const back = change(join(cars, pass, 'pass.json'), { format: undefined });
  await expect(stage.run(rebuild)).rejects.toMatchObject({
    code: 'LAND_FAILED',
    message: expect.stringContaining(
      `has an earlier format, and this lotlake reads format ${SCHEMA_VERSION} alone`,
    ),
  });
  back();
  await stage.run(rebuild);
});
