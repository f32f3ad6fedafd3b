import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readChecks } from '../../src/model/checks.js';
import { runDataTests } from '../../src/model/data-tests.js';
import { runModels } from '../../src/model/run-models.js';
import { apart, base, lot, SOLD } from './cases.js';
import {
  fill,
  type Given,
  openLake,
  PARQUET,
  sightingsOf,
  type TestLake,
  testsOf,
  texts,
} from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const TABLES = [
  ...['runs', 'passes', 'rejects', 'vehicles', 'lots', 'sightings', 'lot_changes', 'prices', 'archived_lots'],
  'statistics',
];

/** Computes one mart over the given rows, with those that it reads, and runs their tests and its checks. */
async function compute(mart: string, given: Readonly<Record<string, readonly Given[]>>): Promise<void> {
  const tables: typeof given = { sightings: sightingsOf(given), ...apart(given) };
  for (const table of TABLES) await fill(lake.connection, table, tables[table] ?? []);
  const { models } = testsOf(mart);
  const checks = readChecks().filter(({ test }) => test.startsWith(mart));
  await runModels(lake.connection, { target: lake.folder, parquet: PARQUET, models });
  const results = await runDataTests(lake.connection, { models, checks });
  expect(results.filter(({ failures }) => failures > 0)).toEqual([]);
}

describe('inventory_daily', () => {
  const seen = (day: string): string => `2026-09-${day}T02:00:01Z`;
  const change = (lot_id: number, day: string, old_value: string, new_value: string, hour = '02'): Given => ({
    ...{ lot_id, field: 'archived', old_value, new_value },
    seen_at: `2026-09-${day}T${hour}:00:01Z`,
  });
  const inventory = (domain = 3) =>
    texts(
      lake,
      `select cast(day as varchar) as day, active_lots, new_lots, archived_lots, returned_lots, first_day
       from inventory_daily where domain_id = ${domain} order by 1`,
    );
  const row = (day: string, active: number, fresh: number | null, archived = 0, returned = 0) => ({
    day: `2026-09-${day}`,
    active_lots: active,
    new_lots: fresh,
    archived_lots: archived,
    returned_lots: returned,
    first_day: fresh === null,
  });

  it('counts each time that a lot leaves or returns, also within a day', async () => {
    await compute('inventory_daily', {
      ...base,
      lots: [
        lot({ lot_id: 1, first_seen_at: seen('06'), archived: true }),
        lot({ lot_id: 2, first_seen_at: seen('06') }),
      ],
      lot_changes: [
        change(1, '07', 'false', 'true'),
        change(1, '09', 'true', 'false'),
        change(1, '09', 'false', 'true', '14'),
        { ...change(2, '08', '1', '2'), field: 'bid' },
      ],
    });
    expect(await inventory()).toEqual([
      row('06', 2, null),
      row('07', 1, 0, 1),
      row('08', 1, 0),
      row('09', 1, 0, 1, 1),
      row('10', 1, 0),
    ]);
  });

  it('counts a lot that was archived when it first came only from its return on', async () => {
    await compute('inventory_daily', {
      ...base,
      lots: [
        lot({ lot_id: 1, first_seen_at: seen('08') }),
        lot({ lot_id: 2, first_seen_at: seen('09'), archived: true }),
        lot({ lot_id: 3, first_seen_at: seen('09') }),
        lot({ lot_id: 4, first_seen_at: seen('09') }),
      ],
      lot_changes: [change(3, '10', 'true', 'false')],
    });
    expect(await inventory()).toEqual([row('08', 1, null), row('09', 2, 1), row('10', 3, 0, 0, 1)]);
  });

  it('lets no lot leave before it was seen, even where the clock was set back', async () => {
    await compute('inventory_daily', {
      ...base,
      lots: [
        lot({ lot_id: 1, first_seen_at: seen('09') }),
        lot({ lot_id: 2, first_seen_at: seen('09'), archived: true }),
      ],
      lot_changes: [change(2, '08', 'false', 'true')],
    });
    expect(await inventory()).toEqual([row('09', 1, null, 1), row('10', 1, 0)]);
  });

  it('begins on the first day of each source, and ends on the day of a pass that began after midnight', async () => {
    await compute('inventory_daily', {
      ...base,
      passes: [{ pass_id: 'p', stream: 'cars', state: 'sealed', started_at: '2026-09-11T00:00:01Z' }],
      lots: [
        lot({ lot_id: 1, first_seen_at: seen('09') }),
        lot({ lot_id: 2, domain_id: 12, domain_name: 'encar_com', first_seen_at: '2026-09-11T00:00:01Z' }),
      ],
    });
    expect(await inventory()).toEqual([row('09', 1, null), row('10', 1, 0), row('11', 1, 0)]);
    expect(await inventory(12)).toEqual([row('11', 1, null)]);
  });

  it('counts second attempts on the day of their auction', async () => {
    const prices = ['2026-08-20', '2026-09-08'].map((day, place) => ({
      ...{ price_id: place, lot_id: 1, domain_id: 3, sale_date: `${day}T15:00:00Z` },
      ...{ status_id: place === 0 ? 8 : SOLD, bid: 1000 },
    }));
    await compute('inventory_daily', { ...base, lots: [lot({ first_seen_at: seen('08') })], prices });
    const found = await texts(
      lake,
      'select cast(day as varchar) as day from inventory_daily where relisted_lots = 1',
    );
    expect(found).toEqual([{ day: '2026-09-08' }]);
  });
});

describe('statistics_compared', () => {
  const record = (rest: Given = {}): Given => ({
    ...{
      statistic_id: 1,
      domain_id: 3,
      manufacturer_id: 5,
      car_model_id: 50,
      year: 2020,
      vehicle_type_id: 1,
    },
    ...{ lot_count: 9, avg_final_bid: 1000, min_final_bid: 500, max_final_bid: 2000 },
    ...{ calculated_at: '2026-09-07T00:00:00Z', ...rest },
  });
  const vehicles = [1, 2].map((engine_id) => ({
    ...{ vehicle_id: engine_id, manufacturer_id: 5, model_id: 50, year: 2020, vehicle_type_id: 1, engine_id },
  }));
  const sold = (lot_id: number, vehicle_id: number, final_bid: number, day = '2026-08-10') =>
    lot({ lot_id, vehicle_id, status_id: SOLD, final_bid, sale_date: `${day}T15:00:00Z` });
  const compared = () =>
    texts(
      lake,
      `select lots, price_avg, price_min, price_max, avg_difference, round(avg_difference_share, 6) as share, is_within
       from statistics_compared order by statistic_id`,
    );
  const none = { price_avg: null, price_min: null, price_max: null, avg_difference: null, share: null };
  const five = [1, 2, 3, 4, 5].map((n) => sold(n, 1, n * 1000));

  it('takes every engine where the record names none, and otherwise that one', async () => {
    await compute('statistics_compared', {
      ...{ ...base, vehicles, lots: [...five, sold(6, 2, 9000)] },
      statistics: [
        record(),
        record({ statistic_id: 2, engine_id: 1 }),
        record({ statistic_id: 3, engine_id: 2 }),
      ],
    });
    const all = { price_avg: 4000, price_min: 1000, price_max: 9000, avg_difference: 3000, share: 3 };
    const one = { price_avg: 3000, price_min: 1000, price_max: 5000, avg_difference: 2000, share: 2 };
    expect(await compared()).toEqual([
      { lots: 6, ...all, is_within: false },
      { lots: 5, ...one, is_within: false },
      { lots: 1, ...none, is_within: null },
    ]);
  });

  it('leaves out auctions after the calculation, and other years, types and sources', async () => {
    await compute('statistics_compared', {
      ...base,
      vehicles,
      lots: [...five, sold(6, 1, 9000, '2026-09-08')],
      statistics: [
        record({ avg_final_bid: 3000, max_final_bid: 3000 }),
        record({ statistic_id: 2, year: 2019 }),
        record({ statistic_id: 3, vehicle_type_id: 2 }),
        record({ statistic_id: 4, domain_id: 1 }),
        record({ statistic_id: 5, generation_id: 7 }),
      ],
    });
    const figures = { price_avg: 3000, price_min: 1000, price_max: 5000, avg_difference: 0, share: 0 };
    expect(await compared()).toEqual([
      { lots: 5, ...figures, is_within: true },
      ...[2, 3, 4, 5].map(() => ({ lots: 0, ...none, is_within: null })),
    ]);
  });

  it('has no difference for a record without figures, and no share of 0', async () => {
    await compute('statistics_compared', {
      ...{ ...base, vehicles, lots: five },
      statistics: [
        record({ avg_final_bid: null, min_final_bid: null, max_final_bid: null }),
        record({ statistic_id: 2, avg_final_bid: 0, calculated_at: null }),
      ],
    });
    const own = { lots: 5, price_avg: 3000, price_min: 1000, price_max: 5000, share: null };
    expect(await compared()).toEqual([
      { ...own, avg_difference: null, is_within: null },
      { ...own, avg_difference: 3000, is_within: false },
    ]);
  });

  it('has a difference from a mean that is too large to round', async () => {
    await compute('statistics_compared', {
      ...{ ...base, vehicles, lots: five, statistics: [record({ avg_final_bid: 1e307 })] },
    });
    expect(await compared()).toMatchObject([{ avg_difference: -1e307, share: -1 }]);
  });
});

describe('data_health', () => {
  const run = (day: number, rest: Given = {}): Given => ({
    ...{ run_id: `r${day}`, pipeline: 'nightly', minimum_group: 5 },
    ...{ started_at: `2026-09-0${day}T02:00:00Z`, ended_at: `2026-09-0${day}T02:30:30Z`, ...rest },
  });
  const pass = (day: number, rest: Given = {}): Given => ({
    ...{ pass_id: `p${day}`, stream: 'cars', kind: 'full', state: 'sealed', complete: true, reason: null },
    ...{ run_id: `r${day}`, started_at: `2026-09-0${day}T02:00:01Z`, records: 200, drift: '[]', ...rest },
  });
  const figures = async (metric: string) => {
    const found = await texts(
      lake,
      `select run_id, subject, value, is_alarm from data_health where metric = '${metric}' order by 1, 2`,
    );
    return found.map((row) => [row.run_id, row.subject, row.value, row.is_alarm]);
  };
  const unproven = { complete: false, reason: '9 records came where the service counts 10' };

  it('marks rejected values of a column as past once a run rejects none', async () => {
    const reject = (position: number): Given => ({
      ...{ run_id: 'r1', stream: 'cars', table_name: 'lots', column_name: 'bid', page: 1, position },
    });
    await compute('data_health', {
      runs: [run(1), run(2), run(3, { pipeline: 'lookup' })],
      passes: [pass(1), pass(2), pass(3, { kind: 'lookup' })],
      rejects: [reject(0), reject(0), reject(7)],
    });
    expect(
      await texts(
        lake,
        `select run_id, subject, value, is_current from data_health where metric = 'rejected_values' order by 1`,
      ),
    ).toEqual([
      { run_id: 'r1', subject: 'lots.bid', value: 3, is_current: false },
      { run_id: 'r2', subject: 'lots.bid', value: 0, is_current: true },
      { run_id: 'r3', subject: 'lots.bid', value: 0, is_current: true },
    ]);
  });

  it('takes the age of cars from complete full passes, and of other streams from any pass', async () => {
    await compute('data_health', {
      runs: [run(1), run(2), run(3), run(4)],
      passes: [
        pass(1),
        pass(2, unproven),
        pass(3, { kind: 'window' }),
        pass(4, { pass_id: 'w', kind: 'window', stream: 'archived_lots' }),
        pass(4, { kind: 'lookup', complete: false, reason: 'lookups' }),
      ],
    });
    const age = (hours: number): number => hours - 1 / 3600;
    expect(await figures('age_hours')).toEqual([
      ['r1', 'cars', 0, false],
      ['r2', 'cars', age(24), false],
      ['r3', 'cars', age(48), true],
      ['r4', 'archived_lots', 0, false],
      ['r4', 'cars', age(72), true],
    ]);
    expect(await figures('incomplete_passes')).toEqual([
      ['r1', 'cars', 0, false],
      ['r2', 'cars', 1, true],
      ['r3', 'cars', 0, false],
      ['r4', 'archived_lots', 0, false],
      ['r4', 'cars', 0, false],
    ]);
  });

  it('takes the age from passes of runs that a rebuild no longer knows', async () => {
    await compute('data_health', { runs: [run(4, { pipeline: 'rebuild' })], passes: [pass(1), pass(2)] });
    expect(await figures('age_hours')).toEqual([['r4', 'cars', 48 - 1 / 3600, true]]);
    expect(await figures('records')).toEqual([]);
  });

  it('counts records, rejects and unknown members by run and stream', async () => {
    const reject = (position: number, day: number): Given => ({
      stream: 'cars',
      run_id: `r${day}`,
      position,
    });
    const strange = [
      { path: 'lots[]."path":.x', kinds: 1 },
      { path: 'colour', kinds: 2 },
    ];
    await compute('data_health', {
      runs: [run(1), run(2)],
      passes: [
        pass(1, { drift: JSON.stringify(strange) }),
        pass(2),
        pass(2, { pass_id: 's', stream: 'statistics', records: 0 }),
      ],
      rejects: [reject(0, 1), reject(1, 1), reject(0, 2), reject(1, 2), reject(2, 2)],
    });
    expect(await figures('records')).toEqual([
      ['r1', 'cars', 200, false],
      ['r2', 'cars', 200, false],
      ['r2', 'statistics', 0, false],
    ]);
    expect(await figures('rejected')).toEqual([
      ['r1', 'cars', 2, false],
      ['r2', 'cars', 3, false],
      ['r2', 'statistics', 0, false],
    ]);
    expect(await figures('reject_share')).toEqual([
      ['r1', 'cars', 0.01, false],
      ['r2', 'cars', 0.015, true],
    ]);
    expect((await figures('drifted_members')).map(([, , value]) => value)).toEqual([2, 0, 0]);
  });

  it('counts warnings and held runs, whatever their texts, and the minutes of the run', async () => {
    const lists = (texts: readonly string[]): string => JSON.stringify(texts);
    await compute('data_health', {
      runs: [
        run(1, { warnings: lists(['said "no","never"', ',', 'ends with "', '[]']), held: lists([]) }),
        run(2, { warnings: lists([]), held: lists(['RECONCILE_SHRINK: source 3', 'MODEL_TESTS_FAILED: 1']) }),
        run(3),
      ],
    });
    const of = (...values: readonly [number, boolean][]) =>
      values.map(([value, isAlarm], place) => [`r${place + 1}`, 'run', value, isAlarm]);
    expect(await figures('warnings')).toEqual(of([4, false], [0, false], [0, false]));
    expect(await figures('guard_held')).toEqual(of([0, false], [2, false], [0, false]));
    expect(await figures('minutes')).toEqual(of([30.5, false], [30.5, false], [30.5, false]));
  });

  /** Alarms that stand, as `run_id subject metric`, without those of empty columns. */
  const standing = async () => {
    const found = await texts(
      lake,
      `select run_id || ' ' || subject || ' ' || metric as alarm from data_health
       where is_alarm and is_current and metric <> 'null_share' order by 1`,
    );
    return found.map(({ alarm }) => alarm);
  };

  it('keeps an alarm until a run of the same pipeline reads the same stream', async () => {
    const lookup = { pipeline: 'lookup' };
    const runs = [run(1), run(2, lookup), run(3, { pipeline: 'incremental' }), run(4)];
    const passes = [
      pass(1, unproven),
      pass(2, { kind: 'lookup', complete: false, reason: 'lookups', records: 1 }),
      pass(3, { kind: 'window', complete: false, reason: 'an empty page', records: 10 }),
      pass(4),
      pass(4, { pass_id: 's', stream: 'statistics', ...unproven }),
    ];
    const rejects = [1, 2, 3].map((position) => ({ stream: 'cars', run_id: 'r1', position }));
    const computeAfter = (count: number) =>
      compute('data_health', { runs: runs.slice(0, count), passes: passes.slice(0, count + 1), rejects });
    const night = ['r1 cars incomplete_passes', 'r1 cars reject_share'];
    await computeAfter(1);
    expect(await standing()).toEqual(night);
    await computeAfter(2);
    expect(await standing()).toEqual(night);
    await computeAfter(3);
    expect(await standing()).toEqual([...night, 'r3 cars incomplete_passes']);
    await computeAfter(4);
    expect(await standing()).toEqual(['r3 cars incomplete_passes', 'r4 statistics incomplete_passes']);
  });

  it('judges the age of the lake only at the last run', async () => {
    const window = (day: number) => pass(day, { kind: 'window' });
    const runs = [run(1), run(4, { pipeline: 'incremental' }), run(5)];
    await compute('data_health', { runs: runs.slice(0, 2), passes: [pass(1), window(4)] });
    expect(await standing()).toEqual(['r4 cars age_hours']);
    await compute('data_health', { runs, passes: [pass(1), window(4), pass(5)] });
    expect(await standing()).toEqual([]);
  });

  it('keeps an alarm for failed runs of other pipelines while the last run lists them', async () => {
    const failing = JSON.stringify(['nightly of 2026-09-01T02:00:00.000Z: SERVICE_FAILED: 500']);
    const runs = [run(1, { pipeline: 'incremental', failing }), run(2, { pipeline: 'lookup', failing })];
    await compute('data_health', { runs });
    expect(await standing()).toEqual(['r2 run failing_runs']);
    await compute('data_health', { runs: [...runs, run(3, { failing: '[]' })] });
    expect(await standing()).toEqual([]);
  });

  it('shows how often columns are empty, for the last run only', async () => {
    await compute('data_health', {
      runs: [run(1), run(2)],
      lots: [
        lot({ lot_id: 1, title_name: ' ', sale_date: '2026-08-10T15:00:00Z' }),
        lot({ lot_id: 2, title_name: 'Salvage' }),
      ],
    });
    const found = (await figures('null_share')).filter(([, subject]) =>
      ['lots.title_name', 'lots.sale_date', 'lots.final_bid', 'prices.bid'].includes(String(subject)),
    );
    expect(found).toEqual([
      ['r2', 'lots.final_bid', 1, true],
      ['r2', 'lots.sale_date', 0.5, false],
      ['r2', 'lots.title_name', 0.5, false],
    ]);
  });
});
