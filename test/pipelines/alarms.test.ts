import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { incremental } from '../../pipelines/incremental.js';
import { saveLookup } from '../../pipelines/lookup.js';
import { nightly } from '../../pipelines/nightly.js';
import type { PipelineOptions } from '../../pipelines/options.js';
import { lookupOf } from '../../src/cli/commands/lookup.js';
import { status } from '../../src/cli/commands/status.js';
import { takeLock } from '../../src/core/job/lock.js';
import { writeRun } from '../../src/core/job/run-records.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { effectsIn } from '../cli/support.js';
import { runRecord } from '../lake/run-record.js';
import { recordsOf, vehicleAt } from '../served.js';
import { configFor, healthMart, lastPage, serve, silentReporter, temporaryFolder } from './support.js';

const FIRST = Date.parse('2026-11-18T04:00:00Z');

const folder = temporaryFolder();
let service: Awaited<ReturnType<typeof serve>>;
let records: ReturnType<typeof recordsOf>;

/** The answer of the service in place of the whole list of vehicles. */
let answer: () => { status?: number; body: unknown };
const whole = () => ({ body: lastPage(records) });
const refused = () => ({ status: 403, body: { message: 'the key is not active' } });
/** A list whose total is twice the number of its vehicles. */
const short = () => {
  const page = lastPage(records) as { meta: object };
  return { body: { ...page, meta: { ...page.meta, total: 2 * records.length, last_page: 1 } } };
};

beforeAll(async () => {
  const sandbox = await startSandbox({ vehicles: 20, seed: 7, clock: new Date(FIRST) });
  records = recordsOf(sandbox.world);
  await sandbox.close();
  service = await serve((url) => {
    const { pathname } = url;
    if (pathname === '/api/cars')
      return url.searchParams.get('page') === '2' ? { body: lastPage([]) } : answer();
    const one = records.find(({ id }) => pathname === `/api/cars/${id}`);
    return one === undefined
      ? { status: 404, body: { message: 'no such endpoint' } }
      : { body: { data: one } };
  });
});
afterAll(async () => {
  await service.close();
  folder.remove();
});

const modelling = healthMart();

let runs = 0;
/** A run ten minutes after the one before. */
const job = (): PipelineOptions => {
  const now = new Date(FIRST + runs++ * 600_000);
  return {
    modelling,
    config: configFor(service.url, folder.path),
    reporter: silentReporter(),
    now: () => now,
  };
};
async function night(given: typeof answer): Promise<void> {
  answer = given;
  await nightly(job());
}
const lookup = () => saveLookup(job(), lookupOf({ kind: 'car', id: String(vehicleAt(records, 1).id) }));

async function statusOf(json: boolean, maxAge?: string): Promise<string> {
  const { effects, out } = effectsIn(folder.path, { LOTLAKE_MEMORY: '700MB' });
  await status.run({ json, maxAge, output: folder.path }, effects);
  return out();
}

/** Alarms as `lotlake status` prints them. */
async function alarms(): Promise<string[]> {
  const found: { pipeline: string; subject: string; what: string }[] = JSON.parse(
    await statusOf(true),
  ).alarms;
  return found.map(({ pipeline, subject, what }) => `${pipeline} ${subject}: ${what}`);
}

describe('an alarm', () => {
  it('of a night stays until the next night, whatever ran between', async () => {
    await night(short);
    const [first, ...others] = await alarms();
    expect(first).toMatch(/^nightly cars: 1 pass could not be shown to be whole/);
    expect(others).toEqual([]);
    await lookup();
    expect(await alarms()).toEqual([first]);
    expect(await statusOf(false)).toMatch(/\nalarms: {3}1\n {2}nightly of .*, cars: 1 pass could not/);
    await night(whole);
    expect(await alarms()).toEqual([]);
  }, 120_000);

  it('of a failed or killed run stays until a run of its pipeline succeeds', async () => {
    for (const _ of [1, 2])
      await expect(night(refused)).rejects.toMatchObject({ code: 'SERVICE_KEY_REFUSED' });
    await lookup();
    expect(await alarms()).toEqual([
      expect.stringMatching(
        /^nightly run: the run failed and published nothing, the last of 2 in a row: SERVICE_KEY_REFUSED$/,
      ),
    ]);
    await night(whole);
    expect(await alarms()).toEqual([]);
    const layout = layoutOf(folder.path);
    writeRun(layout, runRecord({ attempt: 1000, outcome: 'running' }));
    const killed = [
      expect.stringMatching(/^nightly run: the run was killed and published nothing: RUN_KILLED$/),
    ];
    expect(await alarms()).toEqual(killed);
    await lookup();
    expect(await alarms()).toEqual(killed);
    await night(whole);
    expect(await alarms()).toEqual([]);
  }, 120_000);
});

it('a run that a schedule starts is an alarm however it ended, until a night publishes', async () => {
  answer = refused;
  await expect(incremental(job())).rejects.toMatchObject({ code: 'SERVICE_KEY_REFUSED' });
  answer = whole;
  const { config } = job();
  const wrong = { ...config, origin: 'http://elsewhere/api' };
  await expect(nightly({ ...job(), config: wrong })).rejects.toMatchObject({ outcome: 'usage' });
  await expect(nightly({ ...job(), signal: AbortSignal.abort() })).rejects.toThrow();
  const { release } = await takeLock(layoutOf(folder.path).lock, { pipeline: 'vacuum', now: new Date() });
  await expect(nightly(job())).rejects.toMatchObject({ code: 'LAKE_LOCKED' });
  release();
  // The night that found the lake locked is not the last one of which the alarm speaks.
  expect(await alarms()).toEqual([
    'incremental run: the run failed and published nothing: SERVICE_KEY_REFUSED',
    'nightly run: the run was interrupted and published nothing, the last of 3 in a row: RUN_INTERRUPTED',
  ]);
  await night(whole);
  expect(await alarms()).toEqual([]);
}, 120_000);

describe('rejected records and new members', () => {
  it('are named with their numbers before everything else', async () => {
    const lots = vehicleAt(records, 0).lots.map((lot) => ({ ...lot, paint_code: 'B4' }));
    answer = () => ({
      body: lastPage([{ ...records[0], lots }, { ...records[1], id: 'none' }, ...records.slice(2)]),
    });
    await nightly(job());
    await lookup();
    const lines = (await statusOf(false)).split('\n');
    expect(lines).toContain('rejected: 1 record: 1 of cars (nightly)');
    const known = lines.find((line) => line.startsWith('drift:'));
    expect(known).toMatch(
      /^drift: {4}1 member: lots\[\]\.paint_code of cars since \d+ Nov 2026, \d\d:\d0 UTC$/,
    );
    // The next night no longer reports it as new. It stays, dated to the first night, until the service stops sending
    // it.
    const { drift } = await nightly(job());
    expect(drift).toMatchObject([
      { path: 'lots[].paint_code', since: expect.stringMatching(/^202611\d\dT/) },
    ]);
    expect((await statusOf(false)).split('\n')).toContain(known);
    const strict = { ...job().config, onDrift: 'hold' } as const;
    await nightly({ ...job(), config: strict });
    answer = whole;
    await nightly(job());
    expect((await statusOf(false)).split('\n')).toContain('drift:    none');
  }, 120_000);
});

it('a run is held by a new member if the configuration says so, and the next one takes its pages', async () => {
  // Half a surrogate pair, which DuckDB rejects in JSON.
  const coloured = records.map((record) => ({ ...record, 'paint\ud800': 'B5' }));
  answer = () => ({ body: lastPage(coloured) });
  const strict = { ...job().config, onDrift: 'hold' } as const;
  await expect(nightly({ ...job(), config: strict })).rejects.toMatchObject({
    ...{ code: 'RECONCILE_DRIFT', outcome: 'held' },
    message: expect.stringContaining('sends 1 member that lotlake does not know: paint'),
  });
  service.requests.length = 0;
  expect((await nightly(job())).drift).toMatchObject([{ path: 'paint\ud800', since: null }]);
  // One vehicle is asked for, because the machine may not be the one to say how old the pages are.
  expect(service.requests.filter((url) => url.startsWith('/api/cars?'))).toEqual(['/api/cars?per_page=1']);
}, 120_000);

it('status --max-age says whether the last successful nightly is too old', async () => {
  answer = whole;
  await night(whole);
  // The clock of these runs is in November 2026.
  const ended = FIRST + (runs - 1) * 600_000;
  await expect(statusOf(false, '1m')).rejects.toMatchObject({ code: 'LAKE_STALE', outcome: 'held' });
  const hours = Math.ceil((Date.now() - ended) / 3_600_000) + 1;
  expect(await statusOf(false, `${hours}h`)).toContain('the last successful nightly ended');
  await expect(statusOf(false, '26 hours')).rejects.toThrow(/takes an age such as 90m, 26h or 2d/);
}, 120_000);
