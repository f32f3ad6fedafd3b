import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { incremental } from '../../pipelines/incremental.js';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { packageRoot } from '../../src/base/config/package-root.js';
import { SCHEMA_VERSION } from '../../src/core/lake/manifest.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { runLotlake } from '../cli/support.js';
import { recordsOf } from '../served.js';
import { configFor, expectSameLake, readLake, silentReporter, temporaryFolder } from './support.js';
import { differences } from './world-oracle.js';

/**
 * Lakes of every format that lotlake ever wrote, as `<format>-<commit>.tar.gz`. Each has one night over the sandbox of
 * 8 vehicles, seed 5, at 02:00 on 18 November 2026.
 */
const FORMATS = join(packageRoot, 'test', 'lake', 'formats');
const fixtures = readdirSync(FORMATS).sort();
const NIGHT = new Date('2026-11-19T02:00:00Z');

const folder = temporaryFolder();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 8, seed: 5, clock: NIGHT });
});
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

/** Unpacks a fixture into its own folder. */
function unpack(fixture: string, to = basename(fixture, '.tar.gz')): string {
  const output = join(folder.path, to);
  mkdirSync(output);
  execFileSync('tar', ['-xzf', join(FORMATS, fixture), '-C', output]);
  return output;
}

/** The current lake without the columns of passes that formats before 3 lacked and a rebuild reads from landing. */
async function readPublished(output: string): ReturnType<typeof readLake> {
  const lake = await readLake(join(output, 'lake', 'current'));
  return lake.set(
    'passes',
    (lake.get('passes') ?? []).map(({ hidden: _, sources: __, sequence, ...pass }) => ({
      ...pass,
      sequence: sequence ?? 0,
    })),
  );
}

const job = (output: string) => ({
  config: configFor(sandbox.url, output, { origin: 'sandbox of 8 vehicles, seed 5' }),
  reporter: silentReporter(),
  now: () => NIGHT,
});

it('every format has a lake among the fixtures', () => {
  const formats = new Set(fixtures.map((name) => Number(name.split('-')[0])));
  expect([...formats]).toEqual(Array.from({ length: SCHEMA_VERSION }, (_, i) => i + 1));
});

describe.each(fixtures)('the lake %s', (fixture) => {
  it('is opened, migrated by the next run, verified, continued and rebuilt', async () => {
    const output = unpack(fixture);
    const answer = runLotlake(output, 'query', 'select count(*) as n from lots', '--format', 'json');
    expect(JSON.parse(answer.out)).toEqual([{ n: expect.any(Number) }]);
    const before = await readLake(join(output, 'lake', 'current'));

    const first = job(output);
    const { manifest } = await nightly(first);
    expect(manifest).toMatchObject({ schema_version: SCHEMA_VERSION, origin: first.config.origin });
    const format = Number(fixture.split('-')[0]);
    const migrated = first.reporter.steps.filter((step) => step.startsWith('migrate'));
    expect(migrated).toEqual(
      format === SCHEMA_VERSION ? [] : [expect.stringMatching(`has format ${format}; .* publishes format 3`)],
    );
    expect(runLotlake(output, 'verify').out).toMatch(/\nsound\n$/);
    const lake = await readLake(join(output, 'lake', 'current'));
    expect(differences(lake, recordsOf(sandbox.world), false)).toEqual([]);
    // Known rows are still known, and since the same time.
    const known = (rows: typeof before, table: string, id: string) =>
      (rows.get(table) ?? []).map((row) => `${row[id]} ${row.first_seen_at}`);
    expect(known(lake, 'lots', 'lot_id')).toEqual(expect.arrayContaining(known(before, 'lots', 'lot_id')));
    expect(known(lake, 'prices', 'price_id').length).toBeGreaterThanOrEqual(
      before.get('prices')?.length ?? 0,
    );

    await incremental(job(output));
    const published = await readPublished(output);
    await rebuild(job(output));
    expectSameLake(await readPublished(output), published);
  }, 120_000);
});

it('a lake of a later format is refused by every command and stays as it is', async () => {
  const output = unpack(fixtures.at(-1) ?? '', 'later');
  const path = join(output, 'lake', 'current', 'manifest.json');
  const text = readFileSync(path, 'utf8').replace(/"schema_version": \d+/, '"schema_version": 99');
  // The file may be shared with nobody, but a copy keeps the fixture's own.
  writeFileSync(`${path}.new`, text.replace(/"lotlake_version": "[^"]*"/, '"lotlake_version": "9.1.0"'));
  cpSync(`${path}.new`, path);
  await expect(nightly(job(output))).rejects.toMatchObject({ code: 'LAKE_FORMAT', outcome: 'usage' });
  await expect(rebuild(job(output))).rejects.toMatchObject({ code: 'LAKE_FORMAT' });
  for (const command of [['query', 'select 1'], ['vacuum'], ['verify'], ['status'], ['report']]) {
    const { code, err, out } = runLotlake(output, ...command);
    expect(err + out, command.join(' ')).toMatch(/has format 99, written by lotlake/);
    expect(code, command.join(' ')).toBeGreaterThan(0);
  }
  expect(readdirSync(join(output, 'lake', 'snapshots'))).toHaveLength(1);
});
