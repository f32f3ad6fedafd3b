import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import type { ConfigInput } from '../../src/config/config.js';
import { createWorld, type Fault, type FaultRule, type SandboxOptions } from '../../src/sandbox/index.js';
import { expectVehicle, unmet } from './record-oracle.js';
import { configFor, lastPage, serve, silentReporter, temporaryFolder } from './support.js';
import {
  activeIn,
  differences,
  type Lake,
  type Night,
  readLake,
  recordsOf,
  rowsOf,
  type Stage,
  setUp,
  standBetween,
} from './world-oracle.js';

const CLOCK = new Date('2026-11-18T02:00:00Z');
const HOUR = 3_600_000;

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

/** A stage that is closed after the test. */
async function stageOf(options: SandboxOptions = {}, config: ConfigInput = {}): Promise<Stage> {
  const stage = await setUp({ vehicles: 120, seed: 17, clock: CLOCK, ...options }, config);
  cleanups.push(() => stage.close());
  return stage;
}

const once = (path: string, page: number, fault: Fault, after = 0): FaultRule => ({
  match: { path, page, after, times: 1 },
  fault,
});

describe('a request that fails once', () => {
  const faults: readonly (readonly [path: string, page: number, fault: Fault, says: RegExp])[] = [
    ['/cars', 1, { kind: 'server-error' }, /the service failed \(500\).*Server Error/],
    ['/cars', 2, { kind: 'error-member' }, /the service says "search backend unavailable"/],
    ['/cars', 3, { kind: 'cut-body' }, /no complete answer/],
    ['/cars', 4, { kind: 'cut-body', at: 0 }, /no complete answer/],
    ['/cars', 5, { kind: 'cut-body', at: 0.99 }, /no complete answer/],
    ['/cars', 6, { kind: 'cut-body', ending: 'short-text' }, /ends|cut|end of/i],
    ['/cars', 7, { kind: 'cut-body', ending: 'short-text', at: 0 }, /in the answer to/],
    ['/cars', 8, { kind: 'cut-body', ending: 'short-text', at: 0.9999 }, /in the answer to/],
    ['/cars', 9, { kind: 'cut-body', ending: 'short-gzip' }, /no complete answer.*unexpected end/],
    ['/cars', 10, { kind: 'corrupt-gzip' }, /no complete answer/],
    ['/cars', 11, { kind: 'stalled-body' }, /no complete answer.*[Tt]imeout/],
    ['/cars', 12, { kind: 'delay', ms: 2500 }, /no complete answer.*[Tt]imeout/],
    ['/archived-lots', 1, { kind: 'cut-body' }, /no complete answer/],
    ['/statistics', 1, { kind: 'error-member', message: 'down' }, /the service says "down"/],
    ['/manufacturers/all', 1, { kind: 'corrupt-gzip' }, /no complete answer/],
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
    stage = await setUp(
      {
        vehicles: 150,
        seed: 17,
        clock: CLOCK,
        faults: faults.map(([path, page, fault]) => once(path, page, fault)),
      },
      { perPage: 10, concurrency: 4, timeout: 1 },
    );
    night = await stage.night();
    lake = await stage.lake();
  });
  afterAll(() => stage.close());

  it.each(named)('$what on page $page of $path is told and asked for again', ({ path, page, kind, says }) => {
    const isThis = (query: string) => Number(new URLSearchParams(query).get('page') ?? 1) === page;
    const asked = stage.sandbox.requests.filter((entry) => entry.path === path && isThis(entry.query));
    expect(asked.map((entry) => entry.faults)).toEqual([[kind], []]);
    const told = night.warnings.filter((warning) =>
      new RegExp(`/api${path}\\?(.*&)?page=${page}(&|:|$)`).test(warning),
    );
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^attempt 1 failed/);
    expect(told[0]).toMatch(says);
    expect(told[0]).not.toContain(stage.sandbox.apiKey);
  });

  it('costs the lake nothing: every record of the world is there once', () => {
    expect(night.warnings).toHaveLength(faults.length);
    expect(differences(lake, recordsOf(stage.sandbox.world))).toEqual([]);
    expect(activeIn(lake)).toEqual(stage.sandbox.world.activeIds());
    expect(night.result.passes.every((pass) => pass.manifest.complete)).toBe(true);
  });
});

describe('429', () => {
  it('is waited for as long as it says, in seconds, as a date, or not at all', async () => {
    const stage = await stageOf(
      {
        faults: [
          once('/cars', 2, { kind: 'rate-limited', retryAfter: 'none' }),
          once('/cars', 3, { kind: 'rate-limited', retryAfter: 'seconds', seconds: 1 }),
          once('/cars', 4, { kind: 'rate-limited', retryAfter: 'date', seconds: 2 }),
        ],
      },
      { concurrency: 1 },
    );
    const { warnings } = await stage.night();
    const log = stage.sandbox.requests;
    const refused = log.filter((entry) => entry.status === 429);
    const pageOf = (query = '') => new URLSearchParams(query).get('page');
    expect(refused.map((entry) => pageOf(entry.query))).toEqual(['4', '3', '2']);
    const waits = refused.map((entry) => {
      const after = log[entry.number];
      expect(pageOf(after?.query)).toBe(pageOf(entry.query));
      return [entry.at.getTime(), after?.at.getTime() ?? 0] as const;
    });
    const [date, seconds, none] = waits;
    // A date of HTTP has whole seconds.
    expect(date?.[1]).toBeGreaterThanOrEqual(Math.floor(((date?.[0] ?? 0) + 2000) / 1000) * 1000);
    expect((seconds?.[1] ?? 0) - (seconds?.[0] ?? 0)).toBeGreaterThanOrEqual(1000);
    expect((none?.[1] ?? 0) - (none?.[0] ?? 0)).toBeGreaterThanOrEqual(250);
    expect(warnings.map((warning) => /too many requests \(429\)/.test(warning))).toEqual([true, true, true]);
    expect(differences(await stage.lake(), recordsOf(stage.sandbox.world))).toEqual([]);
  });

  it('holds back every request that was not yet sent', async () => {
    const stage = await stageOf(
      { faults: [once('/cars', 4, { kind: 'rate-limited', retryAfter: 'seconds', seconds: 1 })] },
      { concurrency: 4, perPage: 10 },
    );
    await stage.night();
    const log = stage.sandbox.requests;
    const at = log.find((entry) => entry.status === 429)?.at.getTime() ?? 0;
    const within = log.filter((entry) => entry.at.getTime() > at + 100 && entry.at.getTime() < at + 1000);
    expect(at).toBeGreaterThan(0);
    expect(within.map((entry) => entry.query)).toEqual([]);
    expect(activeIn(await stage.lake())).toEqual(stage.sandbox.world.activeIds());
  });
});

describe('a request that fails for ever', () => {
  const faults: readonly (readonly [fault: Fault, code: string])[] = [
    [{ kind: 'server-error' }, 'SERVICE_FAILED'],
    [{ kind: 'rate-limited', retryAfter: 'none' }, 'SERVICE_RATE_LIMITED'],
    [{ kind: 'error-member' }, 'LAND_PAGE_BROKEN'],
    [{ kind: 'cut-body' }, 'SERVICE_UNREACHABLE'],
    [{ kind: 'cut-body', ending: 'short-text' }, 'LAND_PAGE_BROKEN'],
    [{ kind: 'cut-body', ending: 'short-gzip' }, 'SERVICE_UNREACHABLE'],
    [{ kind: 'corrupt-gzip' }, 'SERVICE_UNREACHABLE'],
  ];

  it.each(faults)('%o ends the run as unavailable, with nothing published', async (fault, code) => {
    const stage = await stageOf({ faults: [{ match: { path: '/cars', page: 2 }, fault }] });
    const run = stage.night({ retryBudget: 0.2 });
    await expect(run).rejects.toMatchObject({ code, outcome: 'unavailable', retryable: true });
    await expect(run).rejects.toThrow(/\/api\/cars\?.*page=2/);
    expect(existsSync(join(stage.output, 'lake', 'current'))).toBe(false);
  });

  it('leaves the last snapshot current and its pages in landing, and the next run goes on with them', async () => {
    const stage = await stageOf({}, { perPage: 10 });
    const { sandbox } = stage;
    await stage.night();
    const current = join(stage.output, 'lake', 'current');
    const before = readlinkSync(current);
    const first = await stage.lake();
    sandbox.setClock(new Date(CLOCK.getTime() + 30 * HOUR));
    sandbox.setFaults([{ match: { path: '/cars', page: 3 }, fault: { kind: 'server-error' } }]);
    let sent = sandbox.requests.length;
    const failed = stage.night({ retryBudget: 1 });
    await expect(failed).rejects.toMatchObject({ code: 'SERVICE_FAILED', outcome: 'unavailable' });
    expect(readlinkSync(current)).toBe(before);
    expect(await stage.lake()).toEqual(first);
    const asked = new Set(stage.pagesAsked(sent));
    const landing = join(stage.output, 'landing', 'cars');
    const pages = readdirSync(join(landing, readdirSync(landing).sort().at(-1) ?? '')).filter((name) =>
      name.endsWith('.ndjson.gz'),
    );
    expect(pages.length).toBeGreaterThanOrEqual(asked.size - 2);
    expect(pages.length).toBeGreaterThan(6);

    sandbox.setFaults([]);
    sent = sandbox.requests.length;
    const { result } = await stage.night({ minutes: 30 });
    const again = stage.pagesAsked(sent);
    expect(again).toContain(3);
    expect(again.filter((page) => page > 3)).toEqual([]);
    expect(result.passes[0]?.manifest).toMatchObject({ complete: true, pages: pages.length + again.length });
    const lake = await stage.lake();
    expect(activeIn(lake)).toEqual(sandbox.world.activeIds());
    expect(differences(lake, recordsOf(sandbox.world), false)).toEqual([]);
  });

  it('after the feed leaves the feed in landing: the next run does not ask for it again', async () => {
    const stage = await stageOf({
      faults: [{ match: { path: '/statistics' }, fault: { kind: 'server-error' } }],
    });
    await expect(stage.night({ retryBudget: 0.2 })).rejects.toMatchObject({ outcome: 'unavailable' });
    stage.sandbox.setFaults([]);
    const sent = stage.sandbox.requests.length;
    await stage.night({ minutes: 30 });
    expect(stage.pagesAsked(sent)).toEqual([]);
    expect(differences(await stage.lake(), recordsOf(stage.sandbox.world))).toEqual([]);
  });

  it('may be gone on with when the list has moved on: nothing is lost and nothing archived that is there', async () => {
    const stage = await stageOf({}, { perPage: 10 });
    const { sandbox } = stage;
    await stage.night();
    sandbox.setClock(new Date(CLOCK.getTime() + 24 * HOUR));
    sandbox.setFaults([{ match: { path: '/cars', page: 5 }, fault: { kind: 'server-error' } }]);
    const start = new Set(sandbox.world.activeIds());
    await expect(stage.night({ retryBudget: 0.2 })).rejects.toMatchObject({ outcome: 'unavailable' });
    sandbox.setClock(new Date(CLOCK.getTime() + 33 * HOUR));
    sandbox.setFaults([]);
    await stage.night();
    const active = new Set(activeIn(await stage.lake()));
    const throughout = sandbox.world.activeIds().filter((id) => start.has(id));
    expect(throughout.filter((id) => !active.has(id))).toEqual([]);
  });
});

describe('a page that repeats for ever', () => {
  it('ends a walk along links, which says so and archives nothing for absence', async () => {
    const stage = await stageOf({}, { perPage: 10 });
    const { sandbox } = stage;
    // The feed as a service gives it that leaves totals out, whatever it is asked for.
    const simple = await standBetween(sandbox, (url) => {
      if (url.pathname === '/api/cars') url.searchParams.set('simple_paginate', '1');
      return url;
    });
    cleanups.push(() => simple.close());
    const { result } = await stage.night({ url: simple.url });
    expect(result.passes[0]?.manifest).toMatchObject({ complete: true, total: null });
    const before = recordsOf(sandbox.world);
    expect(differences(await stage.lake(), before)).toEqual([]);

    sandbox.setClock(new Date(CLOCK.getTime() + 24 * HOUR));
    sandbox.setFaults(({ path, page }) =>
      path === '/cars' && page >= 3 ? { kind: 'repeat-page', page: 3 } : undefined,
    );
    const sent = sandbox.requests.length;
    const repeated = await stage.night({ url: simple.url });
    expect(stage.pagesAsked(sent)).toEqual([1, 2, 3, 4]);
    expect(repeated.warnings.join('\n')).toMatch(/\/cars proves no absence: page 4 repeats/);
    const lake = await stage.lake();
    const there = new Set(activeIn(lake));
    expect(
      sandbox.world.activeIds().filter((id) => !there.has(id) && before.some((v) => v.id === id)),
    ).toEqual([]);
    expect(rowsOf(lake, 'vehicles').filter((row) => row.archived_by === 'absence')).toEqual([]);

    sandbox.setFaults([]);
    await stage.night({ url: simple.url, minutes: 30 });
    const mended = await stage.lake();
    expect(activeIn(mended)).toEqual(sandbox.world.activeIds());
    expect(differences(mended, recordsOf(sandbox.world), false)).toEqual([]);
  });

  it('under every number ends a walk by numbers likewise', async () => {
    const stage = await stageOf({}, { perPage: 10 });
    await stage.night();
    const before = activeIn(await stage.lake());
    stage.sandbox.setFaults([{ match: { path: '/cars' }, fault: { kind: 'repeat-page' } }]);
    const sent = stage.sandbox.requests.length;
    const { warnings } = await stage.night({ minutes: 30 });
    expect(stage.pagesAsked(sent).length).toBeLessThanOrEqual(Math.ceil(before.length / 10) + 1);
    expect(warnings.join('\n')).toMatch(/\/cars proves no absence: page \d+ repeats/);
    const lake = await stage.lake();
    expect(activeIn(lake)).toEqual(before);
    expect(differences(lake, recordsOf(stage.sandbox.world))).toEqual([]);
  });

  it('of another list takes nothing of it out of the lake', async () => {
    const stage = await stageOf({ vehicles: 400 });
    await stage.night();
    const before = rowsOf(await stage.lake(), 'statistics').length;
    stage.sandbox.setFaults([{ match: { path: '/statistics' }, fault: { kind: 'repeat-page' } }]);
    const { warnings } = await stage.night({ minutes: 30 });
    expect(warnings.join('\n')).toMatch(/\/statistics proves no absence: page \d+ repeats/);
    const rows = rowsOf(await stage.lake(), 'statistics');
    expect(before).toBeGreaterThan(40);
    expect([rows.length, rows.filter((row) => row.gone_at !== null).length]).toEqual([before, 0]);
  });
});

describe('a page past the end', () => {
  it('is what is left of the last page when the list shrinks behind it', async () => {
    const day = 24 * HOUR;
    const size = (world: { activeIds(): readonly number[] }) => world.activeIds().length;
    const world = createWorld({ vehicles: 120, seed: 17, clock: CLOCK });
    const hours = Array.from({ length: 30 * 24 }, (_, i) => i + 1).find(
      (hour) =>
        size(world.at(new Date(CLOCK.getTime() + day + hour * HOUR))) <
        size(world.at(new Date(CLOCK.getTime() + day))),
    );
    if (hours === undefined) throw new Error('the world does not shrink');
    const start = world.at(new Date(CLOCK.getTime() + day));
    const end = world.at(new Date(CLOCK.getTime() + day + hours * HOUR));
    // As many records a page as leave one alone on the last.
    const perPage = Array.from({ length: 40 }, (_, i) => i + 5).find(
      (pages) =>
        (size(start) - 1) % pages === 0 || Math.ceil(size(start) / pages) > Math.ceil(size(end) / pages),
    );
    if (perPage === undefined) throw new Error('no page size leaves a page past the end');
    const lastPageNumber = Math.ceil(size(start) / perPage);

    const stage = await stageOf({}, { perPage });
    const { sandbox } = stage;
    await stage.night();
    sandbox.setClock(start.clock);
    sandbox.setFaults([
      { match: { path: '/cars', after: 1, times: 1 }, fault: { kind: 'move-clock', hours } },
    ]);
    const sent = sandbox.requests.length;
    await stage.night();
    expect(stage.pagesAsked(sent).slice(0, 2)).toEqual([1, lastPageNumber]);
    const active = new Set(activeIn(await stage.lake()));
    const there = new Set(start.activeIds());
    expect(end.activeIds().filter((id) => there.has(id) && !active.has(id))).toEqual([]);
  });

  it('ends a walk along links that never stop', async () => {
    const world = createWorld({ vehicles: 100, seed: 5 });
    const cars = recordsOf(world);
    const service = await serve((url) => {
      if (url.pathname !== '/api/cars') return { status: 404, body: { message: 'not here' } };
      const page = Number(url.searchParams.get('page'));
      return {
        body: {
          data: cars.slice((page - 1) * 40, page * 40),
          links: { next: `http://service.example/api/cars?per_page=40&page=${page + 1}` },
          meta: { current_page: page, per_page: 40 },
        },
      };
    });
    const folder = temporaryFolder();
    cleanups.push(
      () => service.close(),
      () => folder.remove(),
    );
    await nightly({ config: configFor(service.url, folder.path), reporter: silentReporter() });
    expect(service.requests.filter((url) => url.includes('/cars')).length).toBe(4);
    expect(differences(await readLake(folder.path), cars)).toEqual([]);
  });
});

describe('a list that moves while it is paged', () => {
  it.each([1, 4])(
    'loses nothing that is there all the while, with %i requests in flight',
    async (concurrency) => {
      const stage = await stageOf({ vehicles: 300, seed: 23 }, { perPage: 10, concurrency });
      const { sandbox } = stage;
      await stage.night();
      sandbox.setClock(new Date(CLOCK.getTime() + 24 * HOUR));
      const clocks = [sandbox.clock.getTime()];
      sandbox.setFaults(({ path }) => {
        if (path !== '/cars') return undefined;
        clocks.push((clocks.at(-1) ?? 0) + 3 * HOUR);
        return { kind: 'move-clock', hours: 3 };
      });
      const first = sandbox.world;
      await stage.night();
      const lake = await stage.lake();
      const states = clocks.map((clock) => first.at(new Date(clock)));
      const lists = states.map((state) => new Set(state.activeIds()));
      expect(new Set(lists.map((ids) => ids.size)).size).toBeGreaterThan(1);
      const throughout = [...(lists[0] ?? [])].filter((id) => lists.every((ids) => ids.has(id)));
      expect(throughout.length).toBeGreaterThan(200);
      expect((lists[0]?.size ?? 0) - throughout.length).toBeGreaterThan(5);
      const active = new Set(activeIn(lake));
      expect(throughout.filter((id) => !active.has(id))).toEqual([]);
      // Whatever is active was so at some moment, and stands there once.
      expect([...active].filter((id) => !lists.some((ids) => ids.has(id)))).toEqual([]);
      const ids = rowsOf(lake, 'vehicles').map((row) => row.vehicle_id);
      expect(new Set(ids).size).toBe(ids.length);
      // Every vehicle is as it was at one moment, not put together of several.
      const mixed = throughout.filter((id) =>
        states.every((state) => {
          const expectations = recordsOf(state, [id])
            .flatMap(expectVehicle)
            .filter(({ table, column }) => table !== 'lots' || !column.startsWith('archived'));
          return unmet(expectations, lake).length > 0;
        }),
      );
      expect(mixed).toEqual([]);

      sandbox.setFaults([]);
      await stage.night({ minutes: 30 });
      const quiet = await stage.lake();
      expect(activeIn(quiet)).toEqual(sandbox.world.activeIds());
      expect(differences(quiet, recordsOf(sandbox.world), false)).toEqual([]);
    },
  );
});

describe('members that change', () => {
  it('are kept in extra where nobody knows them, in every stream, and reported', async () => {
    const stage = await stageOf({ faults: [{ fault: { kind: 'extra-members', every: 3 } }] });
    const { result } = await stage.night();
    expect(result.passes.map((pass) => pass.rejected).filter((rejected) => rejected > 0)).toEqual([]);
    const paths = new Set(result.drift.map((entry) => `${entry.stream} ${entry.path}`));
    for (const path of [
      'market_score',
      'sale_channels',
      'lots[].seller_rating',
      'lots[].odometer.reading_source',
    ])
      expect(paths).toContain(`cars ${path}`);
    for (const pass of result.passes) expect(paths).toContain(`${pass.manifest.stream} market_score`);
    const lake = await stage.lake();
    expect(differences(lake, recordsOf(stage.sandbox.world))).toEqual([]);
    const extra = rowsOf(lake, 'vehicles').filter((row) => row.extra !== null);
    expect(JSON.parse(String(extra[0]?.extra))).toEqual({
      market_score: 0.87,
      sale_channels: [{ key: 'online', open: true }],
    });
    const changed = stage.sandbox.world
      .activeIds()
      .filter((_, place) => (place % 20) % 3 === 0)
      .sort((a, b) => a - b);
    expect(extra.map((row) => Number(row.vehicle_id)).sort((a, b) => a - b)).toEqual(changed);
  });

  it.each([
    { from: 'vin', to: 'vin_number', table: 'vehicles', column: 'vin', path: 'vin_number' },
    { from: 'lots.bid', to: 'current_bid', table: 'lots', column: 'bid', path: 'lots[].current_bid' },
    { from: 'lots.odometer', to: 'mileage', table: 'lots', column: 'odometer_km', path: 'lots[].mileage' },
  ])('are drift where $from is renamed, and the records load', async ({ from, to, table, column, path }) => {
    const stage = await stageOf({
      faults: [{ match: { path: '/cars' }, fault: { kind: 'renamed-members', from, to } }],
    });
    const { result } = await stage.night();
    expect(result.passes[0]).toMatchObject({ rejected: 0 });
    expect(result.drift.map((entry) => entry.path)).toContain(path);
    const lake = await stage.lake();
    expect(activeIn(lake)).toEqual(stage.sandbox.world.activeIds());
    const left = rowsOf(lake, table).filter((row) => row[column] !== null);
    expect(left).toEqual([]);
    const records = recordsOf(stage.sandbox.world);
    const member = from.replace('lots.', '');
    const carriers = from.startsWith('lots.') ? records.flatMap((record) => record.lots) : records;
    const expected = carriers.filter((one) => (one[member] ?? null) !== null);
    const kept = rowsOf(lake, table).filter((row) => {
      const extra = JSON.parse(String(row.extra ?? '{}'));
      return (extra[to] ?? null) !== null;
    });
    expect(expected.length).toBeGreaterThan(50);
    expect(kept.length).toBe(expected.length);
  });

  it('archive no lot where the list of lots has another name', async () => {
    const stage = await stageOf();
    await stage.night();
    const before = rowsOf(await stage.lake(), 'lots').filter((row) => row.archived === false).length;
    stage.sandbox.setFaults([
      {
        match: { path: '/cars' },
        fault: { kind: 'renamed-members', from: 'lots', to: 'auctions', every: 4 },
      },
    ]);
    const { result } = await stage.night({ minutes: 30 });
    expect(result.drift.map((entry) => entry.path)).toContain('auctions');
    const lake = await stage.lake();
    expect(rowsOf(lake, 'lots').filter((row) => row.archived === false).length).toBe(before);
    expect(activeIn(lake)).toEqual(stage.sandbox.world.activeIds());
  });

  it.each([
    { what: 'bid-object', path: /^lots\[0\]\.bid$/ },
    { what: 'bad-timestamp', path: /^lots\[0\]\.updated_at$/ },
    { what: 'id-text', path: /^id$/ },
  ] as const)(
    'are rejects where the type is another ($what), and all other records load',
    async ({ what, path }) => {
      const stage = await stageOf({
        faults: [{ match: { path: '/cars' }, fault: { kind: 'retyped-members', what, every: 4 } }],
      });
      const { world } = stage.sandbox;
      const { result, warnings } = await stage.night();
      const lake = await stage.lake();
      const isHit = (place: number): boolean => (place % 20) % 4 === 0;
      const ids = world.activeIds();
      const rejected = ids.filter((_, place) => isHit(place));
      expect(result.passes[0]).toMatchObject({ rejected: rejected.length, records: ids.length });
      const rejects = rowsOf(lake, 'rejects');
      const isOf = (id: number) => (what === 'id-text' ? `no-${id}` : String(id));
      expect(rejects.map((row) => row.record_id).sort()).toEqual(rejected.map(isOf).sort());
      for (const reject of rejects) expect(String(reject.path)).toMatch(path);
      const rest = ids.filter((_, place) => !isHit(place));
      expect(activeIn(lake)).toEqual(rest);
      expect(differences(lake, recordsOf(world, rest))).toEqual([]);
      expect(warnings).toEqual([]);
    },
  );

  it('take no vehicle out of the lake that was there before its record changed', async () => {
    const stage = await stageOf();
    const { sandbox } = stage;
    await stage.night();
    for (const what of ['bid-object', 'bad-timestamp', 'id-text'] as const) {
      sandbox.setFaults([{ match: { path: '/cars' }, fault: { kind: 'retyped-members', what, every: 10 } }]);
      const { result } = await stage.night({ minutes: 30 });
      expect(result.passes[0]?.rejected, what).toBeGreaterThan(5);
      const lake = await stage.lake();
      expect(activeIn(lake), what).toEqual(sandbox.world.activeIds());
      expect(differences(lake, recordsOf(sandbox.world)), what).toEqual([]);
    }
  });

  it('are rejects in the other lists too', async () => {
    const stage = await stageOf({
      faults: [
        {
          match: { path: '/archived-lots' },
          fault: { kind: 'retyped-members', what: 'bad-timestamp', every: 5 },
        },
        { match: { path: '/statistics' }, fault: { kind: 'retyped-members', what: 'id-text', every: 5 } },
        { match: { path: '/usa/titles' }, fault: { kind: 'retyped-members', what: 'id-text', every: 5 } },
      ],
    });
    const { result } = await stage.night();
    const rejects = rowsOf(await stage.lake(), 'rejects');
    for (const name of ['archived_lots', 'statistics', 'titles']) {
      const pass = result.passes.find(({ manifest }) => manifest.stream === name);
      expect(pass?.rejected, name).toBeGreaterThan(2);
      expect(pass?.loaded, name).toBe((pass?.records ?? 0) - (pass?.rejected ?? 0));
      expect(rejects.filter((row) => row.stream === name).length, name).toBe(pass?.rejected);
    }
    expect(activeIn(await stage.lake())).toEqual(stage.sandbox.world.activeIds());
  });
});

describe('a page of 30 MB', () => {
  it('is loaded with all its records', async () => {
    const world = createWorld({ vehicles: 10_200, seed: 3 });
    const cars = recordsOf(world, world.activeIds(12).slice(0, 1000));
    const body = JSON.stringify(lastPage(cars));
    expect(body.length).toBeGreaterThan(30_000_000);
    const service = await serve((url) =>
      url.pathname === '/api/cars' ? { body } : { status: 404, body: { message: 'not here' } },
    );
    const folder = temporaryFolder();
    cleanups.push(
      () => service.close(),
      () => folder.remove(),
    );
    const result = await nightly({ config: configFor(service.url, folder.path), reporter: silentReporter() });
    expect(result.passes[0]).toMatchObject({ records: cars.length, loaded: cars.length, rejected: 0 });
    const lake = await readLake(folder.path);
    expect(activeIn(lake)).toEqual(cars.map((car) => car.id));
    const lots = cars.flatMap((car) => car.lots.map((lot: { id: number }) => lot.id));
    expect(rowsOf(lake, 'lots').length).toBe(new Set(lots).size);
    expect(
      differences(
        lake,
        cars.filter((_, i) => i % 10 === 0),
        false,
      ),
    ).toEqual([]);
  });
});
