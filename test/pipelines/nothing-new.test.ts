import { existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closing } from '../../pipelines/closing.js';
import { incremental } from '../../pipelines/incremental.js';
import { nightly } from '../../pipelines/nightly.js';
import type { PipelineOptions } from '../../pipelines/options.js';
import type { ConfigInput } from '../../src/base/config/config.js';
import { run as runCommand } from '../../src/cli/commands/run.js';
import { readRuns, unresolvedRuns } from '../../src/core/job/run-records.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { readManifest } from '../../src/core/lake/manifest.js';
import type { RunResult } from '../../src/core/publish/step.js';
import { createWorld } from '../../src/sandbox/index.js';
import { effectsIn } from '../cli/support.js';
import { lotAt, recordsOf, vehicleAt } from '../served.js';
import {
  configFor,
  healthMart,
  lastPage,
  readLake,
  serve,
  silentReporter,
  temporaryFolder,
} from './support.js';

const START = Date.parse('2026-11-18T02:00:00Z');
const HOUR = 3_600_000;
const world = createWorld({ vehicles: 12, seed: 5 });
const records = recordsOf(world);
const modelling = healthMart();

let folder: ReturnType<typeof temporaryFolder>;
let service: Awaited<ReturnType<typeof serve>>;
/** The whole list of vehicles. */
let feed: readonly unknown[];
/** The answer to windows over vehicles. */
let changed: () => { status?: number; body: unknown };
const nothing = () => ({ body: lastPage([]) });

beforeEach(async () => {
  [feed, changed] = [records, nothing];
  folder = temporaryFolder();
  service = await serve(({ pathname, searchParams }) => {
    const isWindow = searchParams.has('minutes');
    if (pathname === '/api/cars') {
      if (isWindow) return changed();
      return { body: lastPage(searchParams.get('page') === '2' ? [] : feed) };
    }
    if (pathname === '/api/archived-lots')
      return {
        body: lastPage(isWindow ? [] : [{ lot_id: 1, car_id: 1, archived_at: '2026-11-01T00:00:00Z' }]),
      };
    return { status: 404, body: { message: 'not here' } };
  });
});
afterEach(async () => {
  await service.close();
  folder.remove();
});

type Pipeline = (options: PipelineOptions) => Promise<RunResult>;

async function run(pipeline: Pipeline, hours: number, config: ConfigInput = {}): Promise<RunResult> {
  return pipeline({
    modelling,
    config: configFor(service.url, folder.path, config),
    reporter: silentReporter(),
    now: () => new Date(START + hours * HOUR),
  });
}

const layout = () => layoutOf(folder.path);
const landed = () =>
  ['cars', 'archived_lots'].map((stream) => readdirSync(join(layout().landing, stream)).length);

describe('a run that brought nothing', () => {
  it('publishes no snapshot, leaves no pass, and the next run covers its window too', async () => {
    const night = await run(nightly, 0);
    expect(night.published).toBe(true);
    for (const hours of [1, 2]) {
      const result = await run(incremental, hours);
      expect(result).toMatchObject({ published: false, snapshotId: night.snapshotId, lotChanges: 0 });
      expect(result.passes.map(({ records: count }) => count)).toEqual([0, 0]);
    }
    expect(readlinkSync(layout().current)).toBe(join('snapshots', night.snapshotId));
    expect(readdirSync(layout().snapshots)).toEqual([night.snapshotId]);
    expect(landed()).toEqual([1, 1]);
    expect(existsSync(join(layout().landing, '.trash'))).toBe(false);
    const [record] = records;
    changed = () => ({ body: lastPage([{ ...record, lots: [{ ...lotAt(records, 0), bid: 123_456 }] }]) });
    const third = await run(incremental, 3);
    expect(third.published).toBe(true);
    expect(third.passes[0]?.record.request.minutes).toBe(4 * 60);
    expect(readManifest(realpathSync(layout().current)).last_pass_at.cars).toBe(
      new Date(START + 3 * HOUR).toISOString(),
    );
  }, 120_000);

  it('publishes anyway once a day, and with other settings', async () => {
    await run(nightly, 0);
    expect((await run(incremental, 1, { relistingDays: 9 })).published).toBe(true);
    expect((await run(incremental, 2, { relistingDays: 9 })).published).toBe(false);
    expect((await run(incremental, 22, { relistingDays: 9 })).published).toBe(true);
    expect((await run(incremental, 23, { relistingDays: 9 })).published).toBe(false);
  }, 120_000);

  it('publishes anyway after a failed run of its pipeline, which resolves the alarm', async () => {
    await run(nightly, 0);
    changed = () => ({ status: 403, body: { message: 'the key is not active' } });
    await expect(run(incremental, 1)).rejects.toMatchObject({ code: 'SERVICE_KEY_REFUSED' });
    changed = nothing;
    expect(unresolvedRuns(readRuns(layout()))).toHaveLength(1);
    expect((await run(incremental, 2)).published).toBe(true);
    expect(unresolvedRuns(readRuns(layout()))).toEqual([]);
    expect((await run(incremental, 3)).published).toBe(false);
  }, 120_000);

  it('publishes anyway if its last pass or this one is not proven complete', async () => {
    await run(nightly, 0);
    // A window whose total exceeds the number of its records.
    changed = () => {
      const page = lastPage([]) as { meta: object };
      return { body: { ...page, meta: { ...page.meta, total: 9, last_page: 1 } } };
    };
    const short = await run(incremental, 1);
    expect(short.passes[0]?.record).toMatchObject({ complete: false, records: 0 });
    expect(short.published).toBe(true);
    changed = nothing;
    expect((await run(incremental, 2)).published).toBe(true);
    const alarms = (await readLake(layout().current)).get('data_health') ?? [];
    expect(alarms.filter(({ is_alarm, is_current }) => is_alarm === true && is_current === true)).toEqual([]);
    expect((await run(incremental, 3)).published).toBe(false);
  }, 120_000);
});

describe('a full pass', () => {
  it('always publishes, since every lot was seen again', async () => {
    await run(nightly, 0);
    expect((await run(nightly, 1)).published).toBe(true);
  }, 60_000);
});

describe('a closing run', () => {
  it('publishes that vehicles are gone, and nothing if none is left to look up', async () => {
    const all = (pipeline: Pipeline) => (options: PipelineOptions) =>
      pipeline({ ...options, modelling: { checks: [] } });
    await run(all(nightly), 0);
    feed = records.slice(1);
    await run(all(nightly), 1, { allowShrink: true });
    const first = await run(all(closing), 2);
    expect(first.passes[0]?.record).toMatchObject({
      records: 0,
      answers: { [vehicleAt(records, 0).id]: 'missing' },
    });
    expect(first.published).toBe(true);
    const second = await run(all(closing), 3);
    expect(second.passes[0]?.record).toMatchObject({ records: 0, answers: {} });
    expect(second.published).toBe(false);
  }, 120_000);
});

describe('lotlake run', () => {
  it('says that nothing is new and which snapshot stays current', async () => {
    const { snapshotId } = await run(nightly, 0);
    let hours = 0;
    const printed = async (json: boolean): Promise<string> => {
      const now = new Date(START + ++hours * HOUR);
      const { effects, out } = effectsIn(folder.path, {
        ...{ LOTLAKE_API_KEY: 'sandbox-key', LOTLAKE_BASE_URL: service.url, LOTLAKE_ORIGIN: 'test' },
        ...{ LOTLAKE_LOG: 'silent', LOTLAKE_RATE: '10000', LOTLAKE_MEMORY: '700MB', LOTLAKE_THREADS: '1' },
      });
      const options = {
        pipeline: 'incremental',
        sandbox: false,
        vehicles: undefined,
        seed: undefined,
        clock: undefined,
        everything: false,
        engine: 'duckdb',
        allowShrink: undefined,
        iceberg: undefined,
        sources: undefined,
        verbose: undefined,
        quiet: undefined,
        logFormat: undefined,
        logFile: undefined,
      } as const;
      await runCommand.run({ ...options, json, output: folder.path }, { ...effects, now: () => now });
      return out();
    };
    // The first run uses other models than the night.
    await printed(true);
    const id = readlinkSync(layout().current).replace('snapshots/', '');
    expect(id).not.toBe(snapshotId);
    expect(await printed(false)).toContain(
      `Nothing is new: no snapshot is published, and ${id} stays current`,
    );
    expect(JSON.parse(await printed(true))).toMatchObject({ published: false, snapshot_id: id });
  }, 120_000);
});
