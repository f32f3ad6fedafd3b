import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closing } from '../../pipelines/closing.js';
import { incremental } from '../../pipelines/incremental.js';
import { saveLookup } from '../../pipelines/lookup.js';
import { nightly } from '../../pipelines/nightly.js';
import type { ConfigInput } from '../../src/base/config/config.js';
import type { JobOptions } from '../../src/core/job/job.js';
import { takeLock } from '../../src/core/job/lock.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { listPasses, openPass } from '../../src/core/lake/passes/pass.js';
import type { RunResult } from '../../src/core/publish/step.js';
import { requests } from '../../src/core/service/requests.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { SALES_ALONE } from './oracle/sales.js';
import {
  configFor,
  type PlainRow,
  readLake,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
} from './support.js';
import { isProbe, standBetween } from './world-oracle.js';

type Pipeline = (options: JobOptions) => Promise<RunResult>;
type Pages = readonly string[];

const FIRST = new Date('2026-11-18T02:00:00Z');
const SECOND = new Date('2026-11-20T02:00:00Z');

let sandbox: Sandbox;
let gate: Awaited<ReturnType<typeof standBetween>>;
/** Requests for pages and vehicles that were answered, and how many of them are answered before the service fails. */
let answered: string[] = [];
let until = Number.POSITIVE_INFINITY;
/** Page size above which the service refuses a request, as the plan of the key does. */
let mostPerPage = 1000;
beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 300, seed: 3, clock: FIRST, faults: WITHOUT_CATALOG });
  gate = await standBetween(sandbox, (url) => {
    if (Number(url.searchParams.get('per_page')) > mostPerPage)
      return { status: 400, body: { message: 'The per page field must not be greater.' } };
    if (!/^\/api\/(cars|archived-lots)/.test(url.pathname) || isProbe(url.searchParams)) return url;
    if (answered.length >= until) return { status: 500, body: { message: 'gone' } };
    const { minutes: _, per_page, ...rest } = Object.fromEntries(url.searchParams);
    // A list that was not begun takes the settings of the run that begins it.
    const size = url.pathname === '/api/cars' ? per_page : undefined;
    answered.push(`${url.pathname} ${JSON.stringify({ ...rest, size })}`);
    return url;
  });
});
afterAll(async () => {
  await gate.close();
  await sandbox.close();
});
const folders: ReturnType<typeof temporaryFolder>[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
  until = Number.POSITIVE_INFINITY;
  mostPerPage = 1000;
});

const job = (output: string, more: ConfigInput = {}) => ({
  config: configFor(gate.url, output, { perPage: 50, retryBudget: 0.01, concurrency: 1, ...more }),
  ...SALES_ALONE,
  reporter: silentReporter(),
  now: () => sandbox.clock,
});

/** A lake with its first night, and the clock at the second night. For a closing run, it has both nights. */
async function afterFirstNight(pipeline: Pipeline = nightly): Promise<string> {
  const folder = temporaryFolder();
  folders.push(folder);
  sandbox.setClock(FIRST);
  await nightly(job(folder.path));
  sandbox.setClock(SECOND);
  if (pipeline === closing) {
    await nightly(job(folder.path));
    sandbox.setClock(new Date(SECOND.getTime() + 60_000));
  }
  answered = [];
  return folder.path;
}

/** The requests of an undisturbed run, and the lake after it. */
async function undisturbed(
  pipeline: Pipeline,
  more: ConfigInput = {},
): Promise<{ lake: object; pages: Pages }> {
  const output = await afterFirstNight(pipeline);
  await pipeline(job(output, more));
  return { lake: await contentOf(output), pages: [...answered].sort() };
}

/** Every table, without the columns that differ between runs. */
async function contentOf(output: string): Promise<object> {
  const lake = await readLake(join(output, 'lake', 'current'));
  const plain = ({ run_id: _, pass_id: __, snapshot_id: ___, ...row }: PlainRow): string =>
    JSON.stringify(row);
  const own = ['runs', 'passes', 'data_health', 'observed_spans'];
  return Object.fromEntries(
    [...lake].filter(([name]) => !own.includes(name)).map(([name, rows]) => [name, rows.map(plain).sort()]),
  );
}

/**
 * Runs a pipeline whose service fails after some pages, and then runs it again. Returns the warnings of the second run.
 */
async function twice(
  output: string,
  pipeline: Pipeline,
  pages: number,
  then: ConfigInput = {},
  between: () => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  until = pages;
  await expect(pipeline(job(output))).rejects.toMatchObject({ outcome: 'unavailable' });
  until = Number.POSITIVE_INFINITY;
  await between();
  const again = job(output, then);
  await pipeline(again);
  return again.reporter.warnings;
}

describe('a run resumes another although one of these changed:', () => {
  it.each([
    { pipeline: nightly, name: 'nightly', pages: 3, next: { perPage: 20 } },
    { pipeline: nightly, name: 'nightly', pages: 2, next: { concurrency: 4, rate: 5000 } },
    { pipeline: nightly, name: 'nightly', pages: 4, next: { memory: '900MB', threads: 2, timeout: 60 } },
    { pipeline: nightly, name: 'nightly', pages: 6, next: { retryBudget: 2 } },
    { pipeline: incremental, name: 'incremental', pages: 1, next: { perPage: 5, concurrency: 2 } },
    { pipeline: closing, name: 'closing', pages: 3, next: { rate: 900 } },
  ])(
    '$name after $pages pages, $next',
    async ({ pipeline, pages, next }) => {
      const expected = await undisturbed(pipeline);
      expect(expected.pages.length, expected.pages.join('; ')).toBeGreaterThan(pages);
      const output = await afterFirstNight(pipeline);
      await twice(output, pipeline, pages, next);
      expect([...answered].sort()).toEqual(expected.pages);
      expect(await contentOf(output)).toEqual(expected.lake);
    },
    120_000,
  );

  it('the page size that the plan of the key imposed', async () => {
    mostPerPage = 49;
    const expected = await undisturbed(nightly);
    const output = await afterFirstNight();
    await twice(output, nightly, 1);
    expect([...answered].sort()).toEqual(expected.pages);
    expect(await contentOf(output)).toEqual(expected.lake);
  }, 120_000);

  it('the contract, which checks the landed pages again', async () => {
    const expected = await undisturbed(nightly);
    const output = await afterFirstNight();
    await twice(output, nightly, 3, {}, async () => {
      const landing = join(output, 'landing', 'cars');
      const path = join(landing, readdirSync(landing).sort().at(-1) ?? '', 'pass.json');
      const manifest = JSON.parse(readFileSync(path, 'utf8'));
      expect(manifest.state).toBe('open');
      writeFileSync(path, JSON.stringify({ ...manifest, contract: 'that of an earlier version' }));
    });
    expect([...answered].sort()).toEqual(expected.pages);
    expect(await contentOf(output)).toEqual(expected.lake);
  }, 120_000);

  it('a lookup that was saved meanwhile; the lake keeps the newer values', async () => {
    const output = await afterFirstNight();
    const [id = 0] = sandbox.world.activeIds();
    const before = answered.length;
    await twice(output, nightly, 4, {}, async () => {
      sandbox.setClock(new Date(SECOND.getTime() + 60_000));
      const lookup = { name: 'asked', request: requests.car.from({ car_id: id, prices_history: true }) };
      await saveLookup(job(output), lookup);
    });
    const pages = answered.slice(before).filter((page) => !page.includes(`/cars/${id}`));
    expect(new Set(pages).size).toBe(pages.length);
    const lake = await readLake(join(output, 'lake', 'current'));
    expect(lake.get('sightings')?.find((row) => row.vehicle_id === id)).toMatchObject({ seen_by: 'lookup' });
    expect(lake.get('vehicles')?.find((row) => row.vehicle_id === id)).toMatchObject({ archived: false });
  }, 120_000);
});

describe('a run starts anew if its records would not match the landed ones:', () => {
  it.each([
    { name: 'other sources', next: { sources: '1,3' } },
    { name: 'a scroll instead of pages', next: { paging: 'scroll' as const } },
  ])(
    '$name',
    async ({ next }) => {
      const output = await afterFirstNight();
      const warnings = await twice(output, nightly, 3, next);
      expect(warnings.join()).toMatch(/pass .* of cars is abandoned: left behind by another request/);
      const states = listPasses(join(output, 'landing'), 'cars').map(({ record: { state } }) => state);
      expect(states.sort()).toEqual(['abandoned', 'sealed', 'sealed']);
    },
    120_000,
  );
});

describe('a lookup that is not saved', () => {
  it('leaves no pass behind, even if it was killed', async () => {
    const output = await afterFirstNight();
    const { landing, lock } = layoutOf(output);
    const folders = (): string[] => readdirSync(join(landing, 'cars'));
    const [night = ''] = folders();
    const lookup = { name: 'asked', request: requests.car.from({ car_id: 1, prices_history: true }) };
    await expect(saveLookup(job(output), lookup)).rejects.toMatchObject({ code: 'SERVICE_NOT_FOUND' });
    expect(folders()).toEqual([night]);
    const request = { pipeline: 'lookup' };
    openPass(
      landing,
      {
        stream: 'cars',
        run_id: '20261118T020000Z-00dead',
        sequence: 1,
        origin: 'test',
        kind: 'lookup',
        request,
        contract: '',
      },
      SECOND,
    );
    expect(folders()).toHaveLength(2);
    const held = await takeLock(lock, { pipeline: 'nightly', now: SECOND });
    await expect(nightly(job(output))).rejects.toMatchObject({ code: 'LAKE_LOCKED' });
    expect(folders()).toHaveLength(2);
    held.release();
    await incremental(job(output));
    const left = folders().filter(
      (name) => name !== night && existsSync(join(landing, 'cars', name, 'pass.json')),
    );
    const kinds = listPasses(landing, 'cars').map(({ record: { kind } }) => kind);
    expect([left.length, ...kinds.sort()]).toEqual([1, 'full', 'window']);
  }, 120_000);
});
