import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import type { ConfigInput } from '../../src/base/config/config.js';
import { MOST_BARREN } from '../../src/core/extract/plan.js';
import {
  createWorld,
  type Fault,
  type FaultRequest,
  type FaultRule,
  type SandboxOptions,
  type World,
} from '../../src/sandbox/index.js';
import { recordsOf } from '../served.js';
import { expectVehicle, unmet } from './record-oracle.js';
import { configFor, lastPage, serve, silentReporter, temporaryFolder } from './support.js';
import {
  activeIn,
  differences,
  isProbe,
  type Lake,
  type Night,
  readLake,
  rowsOf,
  type Stage,
  type StageOptions,
  setUp,
  standBetween,
} from './world-oracle.js';

const CLOCK = new Date('2026-11-18T02:00:00Z');
const HOUR = 3_600_000;
const hoursOn = (clock: Date, hours: number): Date => new Date(clock.getTime() + hours * HOUR);

type OnTestFinished = TestContext['onTestFinished'];

const open = (options: StageOptions = {}, config: ConfigInput = {}): Promise<Stage> =>
  setUp({ vehicles: 120, seed: 17, clock: CLOCK, ...options }, config);

/** A stage that is closed after the test. */
async function stageOf(
  { onTestFinished }: { readonly onTestFinished: OnTestFinished },
  options: SandboxOptions = {},
  config: ConfigInput = {},
): Promise<Stage> {
  const stage = await open(options, config);
  onTestFinished(() => stage.close());
  return stage;
}

const pageOf = (query = ''): number => Number(new URLSearchParams(query).get('page') ?? 1);

/** A fault for pages of `/cars`, but not for the probe of the total. */
const onCars =
  (choose: (page: number) => Fault | undefined) =>
  ({ path, page, query }: FaultRequest): Fault | undefined =>
    path === '/cars' && !isProbe(query) ? choose(page) : undefined;

/** Pages of the last pass over the cars that are in landing. */
function landedPages(output: string): number {
  const landing = join(output, 'landing', 'cars');
  const files = readdirSync(join(landing, readdirSync(landing).sort().at(-1) ?? ''));
  return files.filter((name) => name.endsWith('.ndjson.gz')).length;
}

describe('a request that fails once', () => {
  const faults: readonly (readonly [path: string, page: number, fault: Fault, says: RegExp])[] = [
    ['/cars', 2, { kind: 'server-error' }, /the service failed \(500\)/],
    ['/cars', 3, { kind: 'error-member' }, /the service says "search backend unavailable"/],
    ['/cars', 4, { kind: 'cut-body' }, /no complete answer/],
    ['/cars', 5, { kind: 'cut-body', at: 0 }, /no complete answer/],
    ['/cars', 6, { kind: 'cut-body', at: 0.99 }, /no complete answer/],
    ['/cars', 7, { kind: 'cut-body', ending: 'short-text' }, /ended early/],
    ['/cars', 8, { kind: 'cut-body', ending: 'short-text', at: 0 }, /in the answer to/],
    ['/cars', 9, { kind: 'cut-body', ending: 'short-text', at: 0.9999 }, /ended early/],
    ['/cars', 11, { kind: 'stalled-body' }, /no complete answer.*[Tt]imeout/],
    ['/cars', 12, { kind: 'delay', ms: 2500 }, /no complete answer.*[Tt]imeout/],
    ['/archived-lots', 1, { kind: 'cut-body' }, /no complete answer/],
    ['/statistics', 1, { kind: 'error-member', message: 'down' }, /the service says "down"/],
    ['/manufacturers/all', 1, { kind: 'cut-body' }, /no complete answer/],
    ['/usa/damages', 2, { kind: 'server-error' }, /the service failed \(500\)/],
    ['/korea-options', 1, { kind: 'cut-body', ending: 'short-text' }, /in the answer to/],
  ];
  const named = faults.map(([path, page, fault, says]) => {
    const { kind, ...members } = fault;
    return { what: [kind, ...Object.values(members)].join(' '), path, page, kind, says };
  });
  let stage: Stage;
  let night: Night;
  let lake: Lake;

  beforeAll(async () => {
    const rules = faults.map(
      ([path, page, fault]): FaultRule => ({ match: { path, page, times: 1 }, fault }),
    );
    const first: FaultRule = { match: { path: '/cars', times: 1 }, fault: { kind: 'server-error' } };
    stage = await open(
      { vehicles: 150, faults: [first, ...rules], catalog: true },
      { perPage: 10, concurrency: 4, timeout: 1 },
    );
    night = await stage.night();
    lake = await stage.lake();
  });
  afterAll(() => stage.close());

  it.each(named)(
    '$what on page $page of $path is reported and requested again',
    ({ path, page, kind, says }) => {
      const sent = stage.sandbox.requests.filter((one) => one.path === path && pageOf(one.query) === page);
      const hit = sent.filter((one) => one.faults.length > 0);
      expect(hit.map((one) => one.faults)).toEqual([[kind]]);
      const again = sent.filter((one) => one.query === hit[0]?.query && one.number > (hit[0]?.number ?? 0));
      expect(again.map((one) => one.status)).toEqual([200]);
      const retries = night.warnings.filter((warning) =>
        new RegExp(`/api${path}\\?(.*&)?page=${page}(&|:|;|$)`).test(warning),
      );
      expect(retries).toHaveLength(1);
      expect(retries[0]).toMatch(/^attempt 1 failed/);
      expect(retries[0]).toMatch(says);
      expect(retries[0]).not.toContain(stage.sandbox.apiKey);
    },
  );

  it('may be the first of the run', () => {
    const [first, second] = stage.sandbox.requests;
    expect([first?.status, second?.status, second?.query]).toEqual([500, 200, first?.query]);
    expect(night.warnings[0]).toMatch(/^attempt 1 failed.*500/);
  });

  it('costs the lake nothing: every record of the world is there once', () => {
    expect(night.warnings).toHaveLength(faults.length + 1);
    expect(differences(lake, recordsOf(stage.sandbox.world))).toEqual([]);
    expect(activeIn(lake)).toEqual(stage.sandbox.world.activeIds());
    expect(night.result.passes.every((pass) => pass.record.complete)).toBe(true);
  });
});

describe('429', () => {
  it('makes every request wait as long as it says, in seconds, as a date, or not at all', async (test) => {
    const limited: Readonly<Record<number, Fault>> = {
      2: { kind: 'rate-limited', retryAfter: 'none' },
      6: { kind: 'rate-limited', retryAfter: 'seconds', seconds: 1 },
      11: { kind: 'rate-limited', retryAfter: 'date', seconds: 2 },
    };
    const left = new Set(Object.keys(limited).map(Number));
    const faults = onCars((page) => (left.delete(page) ? limited[page] : undefined));
    const stage = await stageOf(test, { faults }, { perPage: 10, concurrency: 2 });
    const { warnings } = await stage.night();
    const log = stage.sandbox.requests;
    const refused = log.filter((entry) => entry.status === 429);
    expect(refused.map((entry) => pageOf(entry.query))).toEqual([11, 6, 2]);
    const [date, seconds, none] = refused.map((entry) => ({
      at: entry.at.getTime(),
      again: log.find((one) => one.number > entry.number && one.query === entry.query)?.at.getTime() ?? 0,
      // One request may have been in flight.
      others: log.filter((one) => one.number > entry.number + 1).map((one) => one.at.getTime()),
    }));
    const dated = Math.floor(((date?.at ?? 0) + 2000) / 1000) * 1000;
    expect(date?.again).toBeGreaterThanOrEqual(dated);
    expect(Math.min(...(date?.others ?? []))).toBeGreaterThanOrEqual(dated);
    expect(seconds?.again).toBeGreaterThanOrEqual((seconds?.at ?? 0) + 1000);
    expect(Math.min(...(seconds?.others ?? []))).toBeGreaterThanOrEqual((seconds?.at ?? 0) + 1000);
    expect(none?.again).toBeGreaterThanOrEqual((none?.at ?? 0) + 250);
    expect(warnings.map((warning) => /too many requests \(429\)/.test(warning))).toEqual([true, true, true]);
    expect(differences(await stage.lake(), recordsOf(stage.sandbox.world))).toEqual([]);
  });
});

/** A fault of every request for vehicles from the first one for a page on, so that no smaller page is served in its place. */
function fromPage(wanted: number, fault: Fault) {
  let isDown = false;
  return ({ path, page }: FaultRequest): Fault | undefined => {
    isDown ||= path === '/cars' && page === wanted;
    return isDown && path === '/cars' ? fault : undefined;
  };
}

describe('a service that goes on failing', () => {
  const faults: readonly (readonly [fault: Fault, code: string])[] = [
    [{ kind: 'server-error' }, 'SERVICE_FAILED'],
    [{ kind: 'rate-limited', retryAfter: 'none' }, 'SERVICE_RATE_LIMITED'],
    [{ kind: 'rate-limited', seconds: 60 }, 'SERVICE_RATE_LIMITED'],
    [{ kind: 'error-member' }, 'LAND_PAGE_BROKEN'],
    [{ kind: 'cut-body' }, 'SERVICE_UNREACHABLE'],
    [{ kind: 'cut-body', ending: 'short-text' }, 'LAND_PAGE_BROKEN'],
  ];

  it.for(faults)('%o ends the run as unavailable, with nothing published', async ([fault, code], test) => {
    const stage = await stageOf(test, { faults: fromPage(2, fault) });
    const run = stage.night({ retryBudget: 0.2 });
    await expect(run).rejects.toMatchObject({ code, outcome: 'unavailable', retryable: true });
    await expect(run).rejects.toThrow(/\/api\/cars\?.*page=\d/);
    expect(existsSync(join(stage.output, 'lake', 'current'))).toBe(false);
  });

  describe('after a successful night', () => {
    let stage: Stage;
    let current: string;
    beforeAll(async () => {
      stage = await open({}, { perPage: 10 });
      current = join(stage.output, 'lake', 'current');
      await stage.night();
    });
    afterAll(() => stage.close());

    it('leaves the last snapshot current and its pages in landing, and the next run resumes', async () => {
      const { sandbox } = stage;
      const before = readlinkSync(current);
      const first = await stage.lake();
      sandbox.setClock(hoursOn(CLOCK, 30));
      sandbox.setFaults(fromPage(3, { kind: 'server-error' }));
      const failed = stage.night({ retryBudget: 1 });
      await expect(failed).rejects.toMatchObject({ code: 'SERVICE_FAILED', outcome: 'unavailable' });
      expect(readlinkSync(current)).toBe(before);
      expect(await stage.lake()).toEqual(first);
      const landed = landedPages(stage.output);
      expect(landed).toBeGreaterThan(6);

      sandbox.setFaults([]);
      const sent = sandbox.requests.length;
      const { result } = await stage.night({ minutes: 30 });
      const again = stage.pagesAsked(sent);
      expect(again).toContain(3);
      expect(again.filter((page) => page > 3)).toEqual([]);
      const { record } = result.passes[0] ?? {};
      expect(record).toMatchObject({ complete: true, pages: landed + again.length });
      const lake = await stage.lake();
      expect(activeIn(lake)).toEqual(sandbox.world.activeIds());
      expect(differences(lake, recordsOf(sandbox.world), false)).toEqual([]);
    });

    it('can be resumed after the list has changed, and vehicles listed throughout stay active', async () => {
      const { sandbox } = stage;
      sandbox.setClock(hoursOn(CLOCK, 54));
      sandbox.setFaults(fromPage(5, { kind: 'server-error' }));
      const start = new Set(sandbox.world.activeIds());
      await expect(stage.night({ retryBudget: 0.2 })).rejects.toMatchObject({ outcome: 'unavailable' });
      sandbox.setClock(hoursOn(CLOCK, 63));
      sandbox.setFaults([]);
      await stage.night();
      const active = new Set(activeIn(await stage.lake()));
      const throughout = sandbox.world.activeIds().filter((id) => start.has(id));
      expect(throughout.length).toBeLessThan(start.size);
      expect(throughout.filter((id) => !active.has(id))).toEqual([]);
    });

    it('in a list after the feed keeps the landed feed, which is not requested again', async () => {
      const { sandbox } = stage;
      sandbox.setClock(hoursOn(CLOCK, 80));
      sandbox.setFaults([{ match: { path: '/statistics' }, fault: { kind: 'error-member' } }]);
      const failed = stage.night({ retryBudget: 0.2 });
      await expect(failed).rejects.toMatchObject({ code: 'LAND_PAGE_BROKEN', outcome: 'unavailable' });
      sandbox.setFaults([]);
      const sent = sandbox.requests.length;
      await stage.night({ minutes: 30 });
      expect(stage.pagesAsked(sent)).toEqual([]);
      const lake = await stage.lake();
      expect(activeIn(lake)).toEqual(sandbox.world.activeIds());
      expect(differences(lake, recordsOf(sandbox.world), false)).toEqual([]);
    });
  });
});

describe('a page that repeats forever', () => {
  let stage: Stage;
  let simple: Awaited<ReturnType<typeof standBetween>>;
  let before: number[];
  const statistics = (lake: Lake) => {
    const rows = rowsOf(lake, 'statistics');
    return { all: rows.length, gone: rows.filter((row) => row.gone_at !== null).length };
  };
  let rows: ReturnType<typeof statistics>;

  beforeAll(async () => {
    stage = await open({ vehicles: 200 }, { perPage: 15 });
    // The feed of a service that leaves totals out of every answer.
    simple = await standBetween(stage.sandbox, (url) => {
      if (url.pathname === '/api/cars') url.searchParams.set('simple_paginate', '1');
      return url;
    });
    const { result } = await stage.night({ url: simple.url });
    expect(result.passes[0]?.record).toMatchObject({ complete: true, total: null });
    const lake = await stage.lake();
    before = activeIn(lake);
    rows = statistics(lake);
    expect(rows.all).toBeGreaterThan(30);
    expect(differences(lake, recordsOf(stage.sandbox.world))).toEqual([]);
  });
  afterAll(async () => {
    await simple.close();
    await stage.close();
  });

  it('ends a walk by numbers and a walk along links, with a warning, and archives nothing', async () => {
    stage.sandbox.setFaults([
      { match: { path: '/cars' }, fault: { kind: 'repeat-page' } },
      { match: { path: '/statistics' }, fault: { kind: 'repeat-page' } },
    ]);
    const sent = stage.sandbox.requests.length;
    const { warnings } = await stage.night({ minutes: 30 });
    expect(stage.pagesAsked(sent).length).toBeLessThanOrEqual(Math.ceil(before.length / 15) + 11);
    expect(stage.sandbox.requests.slice(sent).filter((one) => one.path === '/statistics').length).toBe(2);
    expect(warnings.join('\n')).toMatch(/\/cars proves no absence: page \d+ repeats/);
    expect(warnings.join('\n')).toMatch(
      /\/statistics proves no absence: page 2 brings no record that is new/,
    );
    const lake = await stage.lake();
    expect(activeIn(lake)).toEqual(before);
    expect(statistics(lake)).toEqual(rows);
    expect(differences(lake, recordsOf(stage.sandbox.world))).toEqual([]);
  });

  it('ends a walk of the feed along links, and the next night without it repairs everything', async () => {
    const { sandbox } = stage;
    sandbox.setClock(hoursOn(CLOCK, 24));
    sandbox.setFaults(onCars((page) => (page >= 3 ? { kind: 'repeat-page', page: 3 } : undefined)));
    const sent = sandbox.requests.length;
    const { warnings } = await stage.night({ url: simple.url });
    expect(stage.pagesAsked(sent)).toEqual([1, 2, 3, 4]);
    expect(warnings.join('\n')).toMatch(/\/cars proves no absence: page 4 brings no record that is new/);
    const lake = await stage.lake();
    const active = new Set(activeIn(lake));
    const there = new Set(sandbox.world.activeIds());
    expect(before.filter((id) => there.has(id) && !active.has(id))).toEqual([]);
    expect(rowsOf(lake, 'vehicles').filter((row) => row.archived_by === 'absence')).toEqual([]);

    sandbox.setFaults([]);
    await stage.night({ url: simple.url, minutes: 30 });
    const mended = await stage.lake();
    const now = sandbox.world.activeIds();
    const more = activeIn(mended).filter((id) => !there.has(id));
    expect(activeIn(mended).filter((id) => there.has(id))).toEqual(now);
    // If pages are read forward, a page may lose its last record to the page before, and the border then proves
    // nothing.
    expect(more.filter((id) => now.filter((one) => one < id).length % 15 !== 0)).toEqual([]);
    expect(more.length).toBeLessThan(before.filter((id) => !there.has(id)).length);
    expect(differences(mended, recordsOf(sandbox.world), false)).toEqual([]);
  });
});

describe('a page past the end', () => {
  const size = (world: World): number => world.activeIds().length;

  /** How far to move a world, and a page size for which the last page is gone afterwards. */
  function shrinking(world: World): { hours: number; perPage: number } {
    for (let hours = 1; hours < 1000; hours++) {
      const later = size(world.at(hoursOn(world.clock, hours)));
      if (later >= size(world)) continue;
      const perPage = [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21].find(
        (pages) => Math.ceil(later / pages) < Math.ceil(size(world) / pages),
      );
      if (perPage !== undefined) return { hours, perPage };
    }
    throw new Error('the world does not shrink by a page');
  }

  it('follows from a shrinking list, and costs no record', async (test) => {
    const start = createWorld({ vehicles: 120, seed: 17, clock: CLOCK });
    const { hours, perPage } = shrinking(start);
    const end = start.at(hoursOn(CLOCK, hours));
    const match = { path: '/cars', after: 1, times: 1 };
    const stage = await stageOf(
      test,
      { faults: [{ match, fault: { kind: 'move-clock', hours } }] },
      { perPage },
    );
    await stage.night();
    const number = Math.ceil(size(start) / perPage);
    expect(stage.pagesAsked()).toContain(number);
    const stored = activeIn(await stage.lake());
    const there = new Set(start.activeIds());
    expect(end.activeIds().filter((id) => there.has(id) && !stored.includes(id))).toEqual([]);
    expect(new Set(stored).size).toBe(stored.length);
  });

  it('ends a walk along links that never end', async () => {
    const cars = recordsOf(createWorld({ vehicles: 100, seed: 5 }));
    const service = await serve((url) => {
      if (url.pathname !== '/api/cars') return { status: 404, body: { message: 'not here' } };
      const page = Number(url.searchParams.get('page'));
      const perPage = Math.min(40, Number(url.searchParams.get('per_page')));
      return {
        body: {
          data: cars.slice((page - 1) * perPage, page * perPage),
          links: { next: `http://service.example/api/cars?per_page=${perPage}&page=${page + 1}` },
          meta: { current_page: page, per_page: perPage },
        },
      };
    });
    const folder = temporaryFolder();
    onTestFinished(() => service.close());
    onTestFinished(() => folder.remove());
    await nightly({ config: configFor(service.url, folder.path), reporter: silentReporter() });
    const sent = service.requests.filter((url) => url.includes('/cars') && !url.includes('per_page=1&'));
    expect(sent.map((url) => pageOf(url.split('?')[1]))).toEqual(
      Array.from({ length: 3 + MOST_BARREN }, (_, i) => i + 1),
    );
    expect(differences(await readLake(folder.path), cars)).toEqual([]);
  });
});

/** Vehicles whose rows in a lake match none of the states. */
function mixedOf(lake: Lake, states: readonly World[], ids: readonly number[]): number[] {
  const versions = ids.map((id) => [
    ...new Set(states.map((state) => state.vehicleJson(id, { pricesHistory: true }))),
  ]);
  let left = ids.map((id, place) => ({ id, texts: versions[place] ?? [] }));
  for (let round = 0; left.some(({ texts }) => round < texts.length); round++) {
    const expectations = left.flatMap(({ id, texts }) =>
      expectVehicle(JSON.parse(texts[round] ?? '{"id":-1,"title":"no further version"}'))
        .filter(({ table, column }) => table !== 'lots' || !column.startsWith('archived'))
        .map((expectation) => ({ ...expectation, path: String(id) })),
    );
    const failed = new Set(unmet(expectations, lake).map(({ path }) => Number(path)));
    left = left.filter(({ id }) => failed.has(id));
  }
  return left.map(({ id }) => id);
}

describe('a list that moves while it is paged', () => {
  it.for([1, 4])(
    'loses nothing that is there all the while, new or known, with %i requests in flight',
    async (concurrency, test) => {
      const stage = await stageOf(test, { vehicles: 200, seed: 23 }, { perPage: 15, concurrency });
      const { sandbox } = stage;
      const known = new Set<number>();
      for (const [from, hours] of [
        [0, 4],
        [400, 6],
      ] as const) {
        sandbox.setClock(hoursOn(CLOCK, from));
        const first = sandbox.world;
        const clocks = [sandbox.clock];
        sandbox.setFaults(({ path }) => {
          if (path !== '/cars') return undefined;
          clocks.push(hoursOn(clocks.at(-1) ?? CLOCK, hours));
          return { kind: 'move-clock', hours };
        });
        await stage.night({ allowShrink: true });
        const lake = await stage.lake();
        const states = clocks.map((clock) => first.at(clock));
        const lists = states.map((state) => new Set(state.activeIds()));
        expect(new Set(lists.map((ids) => ids.size)).size).toBeGreaterThan(1);
        const throughout = first.activeIds().filter((id) => lists.every((ids) => ids.has(id)));
        expect(throughout.length).toBeGreaterThan(150);
        expect(first.activeIds().length - throughout.length).toBeGreaterThan(2);
        const active = new Set(activeIn(lake));
        expect(throughout.filter((id) => !active.has(id))).toEqual([]);
        // Every active vehicle was in the list at some moment, or was known and is not proven to be gone.
        expect([...active].filter((id) => !lists.some((ids) => ids.has(id)) && !known.has(id))).toEqual([]);
        const ids = rowsOf(lake, 'vehicles').map((row) => Number(row.vehicle_id));
        expect(new Set(ids).size).toBe(ids.length);
        // Every vehicle is as it was at one moment, not a mixture of several.
        expect(mixedOf(lake, states, throughout)).toEqual([]);
        for (const id of ids) known.add(id);
      }
    },
  );
});

describe('a limit for the day', () => {
  it('ends the run at once, says how long to wait, and the next run resumes', async (test) => {
    const stage = await stageOf(test, {}, { concurrency: 2 });
    const limited: FaultRule = {
      match: { path: '/cars', after: 4 },
      fault: { kind: 'rate-limited', seconds: 43_200 },
    };
    stage.sandbox.setFaults([limited]);
    const started = Date.now();
    await expect(stage.night()).rejects.toMatchObject({
      code: 'SERVICE_RATE_LIMITED',
      outcome: 'unavailable',
      hint: expect.stringContaining('12.0 hours'),
    });
    expect(Date.now() - started).toBeLessThan(10_000);
    const landed = landedPages(stage.output);
    stage.sandbox.setFaults([]);
    const before = stage.sandbox.requests.length;
    await stage.night({ minutes: 720 - 1 });
    const lake = await stage.lake();
    expect(differences(lake, recordsOf(stage.sandbox.world))).toEqual([]);
    const pages = Math.ceil(stage.sandbox.world.activeIds().length / 20);
    // On a slow machine a request can be sent twice.
    expect(new Set(stage.pagesAsked(before)).size).toBe(pages - landed);
  });
});

describe('a scroll that expires', () => {
  it('is restarted with a warning, and ends the run if it keeps expiring', async (test) => {
    const isContinued = ({ query }: FaultRequest): boolean => query.has('scroll_id');
    let times = 0;
    const stage = await stageOf(test, {}, { paging: 'scroll' });
    stage.sandbox.setFaults((request) =>
      isContinued(request) && ++times === 3 ? { kind: 'expired-scroll' } : undefined,
    );
    const { warnings } = await stage.night();
    expect(warnings.map((warning) => warning.split(':')[0])).toEqual(['starting the scroll again']);
    const lake = await stage.lake();
    expect(activeIn(lake)).toEqual(stage.sandbox.world.activeIds());
    expect(differences(lake, recordsOf(stage.sandbox.world))).toEqual([]);
    const current = join(stage.output, 'lake', 'current');
    const before = readlinkSync(current);
    stage.sandbox.setFaults((request) => (isContinued(request) ? { kind: 'expired-scroll' } : undefined));
    const failed = stage.night({ minutes: 30 });
    await expect(failed).rejects.toMatchObject({ code: 'EXTRACT_SCROLL_EXPIRED' });
    expect(readlinkSync(current)).toBe(before);
  });
});

describe('a page of 30 MB', () => {
  it('is loaded with all its records', async () => {
    const world = createWorld({ vehicles: 10_200, seed: 3 });
    const cars = recordsOf(world, world.activeIds([12]).slice(0, 1000));
    const body = JSON.stringify(lastPage(cars));
    expect(body.length).toBeGreaterThan(30_000_000);
    const service = await serve((url) => {
      if (url.pathname !== '/api/cars') return { status: 404, body: { message: 'not here' } };
      return { body: isProbe(url.searchParams) ? lastPage(cars.slice(0, 1)) : body };
    });
    const folder = temporaryFolder();
    onTestFinished(() => service.close());
    onTestFinished(() => folder.remove());
    const result = await nightly({ config: configFor(service.url, folder.path), reporter: silentReporter() });
    expect(result.passes[0]).toMatchObject({ records: cars.length, loaded: cars.length, rejected: 0 });
    const lake = await readLake(folder.path);
    expect(activeIn(lake)).toEqual(cars.map((car) => car.id));
    const lots = cars.flatMap((car) => car.lots.map((lot) => lot.id));
    expect(rowsOf(lake, 'lots').length).toBe(new Set(lots).size);
    const sample = cars.filter((_, i) => i % 10 === 0);
    expect(differences(lake, sample, false)).toEqual([]);
  });
});
