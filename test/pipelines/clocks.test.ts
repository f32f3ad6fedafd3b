import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { incremental } from '../../pipelines/incremental.js';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { openTemporarySession } from '../../src/base/duck/session.js';
import { executeVacuum, planVacuum } from '../../src/beyond/keep/vacuum-lake.js';
import type { JobOptions } from '../../src/core/job/job.js';
import { readRuns } from '../../src/core/job/run-records.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { listPasses } from '../../src/core/lake/passes/pass.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import {
  configFor,
  type PlainRow,
  readLake,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
  WITHOUT_MARTS,
} from './support.js';

const FIRST = Date.parse('2026-11-18T02:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

type Pipeline = (options: JobOptions) => Promise<unknown>;

/** A service with a clock that is right, and an output folder whose machine may be wrong. */
async function setUp({ tellsTime = true, marts = false } = {}) {
  /** Hours by which the next answers are older than they should be, because a cache kept them. */
  const cached: number[] = [];
  const sandbox: Sandbox = await startSandbox({
    ...{ vehicles: 100, seed: 41, clock: new Date(FIRST), faults: WITHOUT_CATALOG },
    ...(tellsTime ? { date: () => new Date(sandbox.clock.getTime() - (cached.shift() ?? 0) * HOUR) } : {}),
  });
  const folder = temporaryFolder();
  ended.push(folder.remove, sandbox.close);
  /** Runs a pipeline. Its machine is `off` milliseconds ahead of the service. Returns its warnings, and its error. */
  const run = async (pipeline: Pipeline, off = 0, more = {}) => {
    const reporter = silentReporter();
    const config = configFor(sandbox.url, folder.path, { perPage: 100, referenceDays: 1000, ...more });
    const now = (): Date => new Date(sandbox.clock.getTime() + off);
    const options = { ...(marts ? {} : WITHOUT_MARTS), config, reporter, now };
    const error: unknown = await pipeline(options).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return { warnings: reporter.warnings, error };
  };
  const advance = (ms: number): void => sandbox.setClock(new Date(sandbox.clock.getTime() + ms));
  const layout = layoutOf(folder.path);
  return {
    ...{ sandbox, run, advance, layout, cached },
    lake: () => readLake(layout.current),
    /** Five nights. The machine is wrong in the second alone. */
    fiveNights: async (off: number, more = {}) => {
      const nights: Awaited<ReturnType<typeof run>>[] = [];
      for (let night = 1; night <= 5; night++) {
        nights.push(await run(nightly, night === 2 ? off : 0, night === 2 ? more : {}));
        advance(DAY);
      }
      return nights;
    },
    passes: () => listPasses(layout.landing).map(({ record }) => record),
    vacuum: async () => {
      const opened = await openTemporarySession({ memory: '500MB', threads: 1 });
      const keep = { keepSnapshots: 7, keepDays: 7, keepPasses: 3 };
      const plan = await planVacuum(opened.session.connection, layout, keep).finally(opened.close);
      await executeVacuum(layout, plan, new AbortController().signal);
      return plan;
    },
  };
}

const idsOf = (rows: readonly PlainRow[] | undefined): number[] =>
  (rows ?? []).map((row) => Number(row.lot_id)).sort((a, b) => a - b);

/** Lots of the archive after five nights with a right clock. */
let complete: readonly number[] | undefined;
async function completeArchive(): Promise<readonly number[]> {
  if (complete !== undefined) return complete;
  const { fiveNights, lake } = await setUp();
  for (const { error } of await fiveNights(0)) expect(error).toBeUndefined();
  complete = idsOf((await lake()).get('archived_lots'));
  return complete;
}

/** Clocks of the second night. */
const CLOCKS = [
  { name: '20 hours ahead', off: 20 * HOUR },
  { name: '20 hours behind', off: -20 * HOUR },
  { name: '3 hours ahead', off: 3 * HOUR },
  { name: '4 days ahead', off: 4 * DAY },
  { name: 'in 2099', off: Date.parse('2099-01-01') - FIRST },
];

/** Runs some 25 nights, which may take minutes beside other suites. */
const TIME = 300_000;

describe('a night with a clock that is far off', () => {
  it('is refused, and the nights after it lose nothing', { timeout: TIME }, async () => {
    const { run, advance, lake, passes, layout } = await setUp();
    expect((await run(nightly)).error).toBeUndefined();
    advance(DAY);
    for (const { off } of CLOCKS)
      expect((await run(nightly, off)).error).toMatchObject({ code: 'RUN_CLOCK', outcome: 'held' });
    for (let night = 3; night <= 5; night++) {
      advance(DAY);
      const { error, warnings } = await run(nightly);
      expect(error).toBeUndefined();
      expect(warnings.filter((warning) => /clock|future/.test(warning))).toEqual([]);
    }
    advance(DAY);
    expect(idsOf((await lake()).get('archived_lots'))).toEqual(await completeArchive());
    expect(passes().filter(({ started_at }) => Date.parse(started_at) > FIRST + 5 * DAY)).toEqual([]);
    // The records of the refused runs have the time of the service, so that nothing orders them after later runs.
    const days = readRuns(layout).map((each) => Math.round((Date.parse(each.started_at) - FIRST) / DAY));
    expect(days).toEqual([0, ...CLOCKS.map(() => 1), 2, 3, 4]);
  });
});

describe.each(CLOCKS)('five nights, the second with a clock $name', ({ off }) => {
  it('publish if that is allowed, and lose nothing', { timeout: TIME }, async () => {
    const { fiveNights, lake, passes } = await setUp();
    const nights = await fiveNights(off, { allowSkew: true });
    for (const { error } of nights) expect(error).toBeUndefined();
    expect(nights[1]?.warnings.join()).toMatch(/the clock of this machine is .* (ahead of|behind) the one/);
    const { runs = [], archived_lots } = Object.fromEntries(await lake());
    expect(idsOf(archived_lots)).toEqual(await completeArchive());
    const second = passes().filter(({ clock_ahead }) => clock_ahead !== 0);
    expect(second.map(({ stream }) => stream).sort()).toEqual(['archived_lots', 'cars', 'statistics']);
    for (const pass of second) {
      expect(pass.clock_ahead).toBe(off / 1000);
      expect(pass.started_at).toBe(new Date(FIRST + DAY).toISOString());
    }
    expect(runs.filter((each) => Date.parse(String(each.started_at)) > FIRST + 5 * DAY)).toEqual([]);
  });
});

describe('a right clock, and a first answer that a cache has kept for hours', () => {
  it.each([{ hours: [20] }, { hours: [20, 5] }, { hours: [20, 5, 9] }, { hours: [1, 30, 0, 30] }])(
    'of $hours leaves a night and its windows as they are',
    { timeout: TIME },
    async ({ hours }) => {
      for (const allowSkew of [false, true]) {
        const { run, advance, passes, lake, cached } = await setUp();
        await run(nightly);
        advance(6 * HOUR);
        cached.push(...hours);
        const { error, warnings } = await run(incremental, 0, { allowSkew });
        expect(error).toBeUndefined();
        expect(warnings.filter((warning) => /set the clock/.test(warning))).toEqual([]);
        const windows = passes().filter(({ kind, state }) => kind === 'window' && state === 'sealed');
        expect(windows.map(({ request }) => request.minutes)).toEqual([420, 420]);
        for (const { started_at } of windows)
          expect(started_at).toBe(new Date(FIRST + 6 * HOUR).toISOString());
        const runs = (await lake()).get('runs') ?? [];
        expect(runs.map((each) => Date.parse(String(each.started_at)))).toEqual([FIRST, FIRST + 6 * HOUR]);
      }
    },
  );
});

describe('a clock that is off by less than the overlap of the windows', () => {
  it.each([
    { minutes: 1, warns: false },
    { minutes: 3, warns: true },
    { minutes: -59, warns: true },
  ])('of $minutes minutes is corrected', async ({ minutes, warns }) => {
    const { run, passes } = await setUp();
    const { error, warnings } = await run(nightly, minutes * 60_000);
    expect(error).toBeUndefined();
    expect(warnings.some((warning) => /the clock of this machine is/.test(warning))).toBe(warns);
    for (const pass of passes()) expect(pass.started_at).toBe(new Date(FIRST).toISOString());
  });
});

describe('an incremental with a wrong clock', () => {
  it.each([20, -20])('of %d hours reaches back as far as it must if it is allowed', async (hours) => {
    const { run, advance, passes } = await setUp();
    await run(nightly);
    advance(6 * HOUR);
    expect((await run(incremental, hours * HOUR)).error).toMatchObject({ code: 'RUN_CLOCK' });
    expect((await run(incremental, hours * HOUR, { allowSkew: true })).error).toBeUndefined();
    const windows = passes().filter(({ kind, state }) => kind === 'window' && state === 'sealed');
    expect(windows.map(({ request }) => request.minutes)).toEqual([420, 420]);
  });
});

describe('a rebuild on a machine whose clock is a day behind', () => {
  it('takes every night, because the service told their times', { timeout: TIME }, async () => {
    const { run, advance, lake } = await setUp();
    for (let night = 1; night <= 2; night++) {
      await run(nightly);
      advance(DAY);
    }
    const before = idsOf((await lake()).get('lots'));
    const { error, warnings } = await run(rebuild, -2 * DAY);
    expect(error).toBeUndefined();
    expect(warnings.filter((warning) => warning.includes('set aside'))).toEqual([]);
    const after = await lake();
    expect(idsOf(after.get('lots'))).toEqual(before);
    expect(new Set(after.get('passes')?.map((pass) => pass.run_id)).size).toBe(2);
  });
});

describe('a service that does not tell its time', () => {
  it.each([3 * HOUR, 4 * DAY])(
    'and a night %d ms ahead: the nights and incrementals after it publish',
    { timeout: TIME },
    async (off) => {
      const { run, advance, lake } = await setUp({ tellsTime: false });
      await run(nightly);
      advance(DAY);
      expect((await run(nightly, off)).error).toBeUndefined();
      for (const wait of [HOUR / 2, 1.5 * HOUR, DAY, HOUR, DAY]) {
        advance(wait);
        const { error } = await run(wait === DAY ? nightly : incremental);
        expect(error).toBeUndefined();
      }
      expect((await run(rebuild)).error).toBeUndefined();
      expect((await lake()).get('archived_lots')?.length).toBeGreaterThan(0);
    },
  );

  it('names passes from the future and sets them aside, and vacuum removes them', {
    timeout: TIME,
  }, async () => {
    const { run, advance, lake, passes, sandbox, vacuum, layout } = await setUp({ tellsTime: false });
    await run(nightly);
    advance(DAY);
    // The night of 2099 lands everything and does not publish.
    const failing = { models: [], checks: [{ name: 'never', severity: 'error', sql: 'select 1 as one' }] };
    const { error } = await run(
      (options) => nightly({ ...options, modelling: failing as never }),
      Date.parse('2099-01-01') - FIRST,
    );
    expect(error).toMatchObject({ code: 'MODEL_TESTS_FAILED' });
    const future = passes().filter(({ started_at, state }) => started_at > '2099' && state !== 'abandoned');
    expect(future.length).toBeGreaterThan(1);
    advance(DAY);
    const after = await run(nightly);
    expect(after.error).toBeUndefined();
    for (const { pass_id } of future)
      expect(after.warnings.join('\n')).toMatch(
        new RegExp(`pass ${pass_id} of \\w+ is abandoned: it began in the future`),
      );
    const cars = (await lake()).get('vehicles')?.filter((row) => row.archived === false) ?? [];
    expect(cars.length).toBe(sandbox.world.activeIds().length);
    const { removals } = await vacuum();
    for (const { pass_id } of future) expect(removals.some(({ path }) => path.endsWith(pass_id))).toBe(true);
    for (const stream of readdirSync(layout.landing))
      for (const { pass_id } of future) expect(existsSync(join(layout.landing, stream, pass_id))).toBe(false);
  });
});
