import { describe, expect, it } from 'vitest';
import { UNSERVED } from '../../src/core/load/check-page.js';
import { apart, base, lot, SOLD, vinOf } from './cases.js';
import { type Given, openMarts } from './support.js';

const marts = openMarts('data_health');
const { query } = marts;
/** Computes the mart with a vehicle for each lot. */
const compute = (given: Readonly<Record<string, readonly Given[]>>) => marts.compute(apart(given));

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
    const found = await query(
      `select run_id, subject, value, is_alarm from data_health where metric = '${metric}' order by 1, 2`,
    );
    return found.map((row) => [row.run_id, row.subject, row.value, row.is_alarm]);
  };
  const unproven = { complete: false, reason: '9 records came where the service counts 10' };

  it('marks rejected values of a column as past once a run rejects none', async () => {
    const reject = (position: number): Given => ({
      ...{ run_id: 'r1', stream: 'cars', table_name: 'lots', column_name: 'bid', page: 1, position },
    });
    await compute({
      runs: [run(1), run(2), run(3, { pipeline: 'lookup' })],
      passes: [pass(1), pass(2), pass(3, { kind: 'lookup' })],
      rejects: [reject(0), reject(0), reject(7)],
    });
    expect(
      await query(
        `select run_id, subject, value, is_current from data_health where metric = 'rejected_values' order by 1`,
      ),
    ).toEqual([
      { run_id: 'r1', subject: 'lots.bid', value: 3, is_current: false },
      { run_id: 'r2', subject: 'lots.bid', value: 0, is_current: true },
      { run_id: 'r3', subject: 'lots.bid', value: 0, is_current: true },
    ]);
  });

  it('counts records that the service could not serve, and raises an alarm', async () => {
    const reject = (position: number, rest: Given = {}): Given => ({
      ...{ run_id: 'r1', stream: 'cars', page: 1, position, path: '', expected: 'object', ...rest },
    });
    await compute({
      runs: [run(1, { rejected: 2 }), run(2)],
      passes: [pass(1), pass(2)],
      rejects: [reject(0), reject(1, { expected: UNSERVED })],
    });
    expect(await figures('unserved_records')).toEqual([
      ['r1', 'cars', 1, true],
      ['r2', 'cars', 0, false],
    ]);
    expect(await figures('rejected')).toEqual([
      ['r1', 'cars', 2, false],
      ['r2', 'cars', 0, false],
    ]);
  });

  it('counts records that are too large, and ends the alarm with the night without one', async () => {
    const expected = 'a record of at most 4194304 bytes';
    const reject = { stream: 'cars', page: 1, position: 0, path: '', expected };
    await compute({
      runs: [run(1, { rejected: 1 }), run(2)],
      passes: [pass(1), pass(2)],
      rejects: [{ ...reject, run_id: 'r1' }],
    });
    expect(await figures('oversized_records')).toEqual([
      ['r1', 'cars', 1, true],
      ['r2', 'cars', 0, false],
    ]);
  });

  it('counts sale dates that stand for none', async () => {
    await compute({
      runs: [run(1), run(2)],
      lots: [
        lot({ sale_date: '1970-01-01T00:00:00Z' }),
        lot({ lot_id: 2, sale_date: '2026-08-01T00:00:00Z' }),
      ],
      vehicles: [{ vehicle_id: 10 }],
      prices: [{ price_id: '1', lot_id: 2, sale_date: '0001-01-01T00:00:00Z' }],
    });
    expect(await figures('placeholder_dates')).toEqual([
      ['r2', 'lots.sale_date', 1, false],
      ['r2', 'prices.sale_date', 1, false],
    ]);
  });

  it('takes the age of cars from complete full passes, and of other streams from any pass', async () => {
    await compute({
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
    await compute({ runs: [run(4, { pipeline: 'rebuild' })], passes: [pass(1), pass(2)] });
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
    await compute({
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
    await compute({
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

  /** Current alarms as `run_id subject metric`, without the alarms about empty columns. */
  const standing = async () => {
    const found = await query(`select run_id || ' ' || subject || ' ' || metric as alarm from data_health
       where is_alarm and is_current and metric <> 'null_share' order by 1`);
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
      compute({ runs: runs.slice(0, count), passes: passes.slice(0, count + 1), rejects });
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
    await compute({ runs: runs.slice(0, 2), passes: [pass(1), window(4)] });
    expect(await standing()).toEqual(['r4 cars age_hours']);
    await compute({ runs, passes: [pass(1), window(4), pass(5)] });
    expect(await standing()).toEqual([]);
  });

  it('keeps an alarm for failed runs of other pipelines while the last run lists them', async () => {
    const failing = JSON.stringify(['nightly of 2026-09-01T02:00:00.000Z: SERVICE_FAILED: 500']);
    const runs = [run(1, { pipeline: 'incremental', failing }), run(2, { pipeline: 'lookup', failing })];
    await compute({ runs });
    expect(await standing()).toEqual(['r2 run failing_runs']);
    await compute({ runs: [...runs, run(3, { failing: '[]' })] });
    expect(await standing()).toEqual([]);
  });

  it('shows how often columns are empty, for the last run only', async () => {
    await compute({
      runs: [run(1), run(2)],
      vehicles: base.vehicles,
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

describe('the results of a source', () => {
  const { compute, query } = openMarts('data_health');
  const NIGHT = Date.UTC(2026, 8, 10, 2);
  const DAY = 86_400_000;
  const day = (place: number): string => new Date(NIGHT + place * DAY).toISOString();

  /** Ten auctions a day of two sources in the 91 days before a night, `resultOf` each by source and day of the auction. */
  const nightOf = (night: number, resultOf: (source: number, auction: number, i: number) => Given) =>
    compute(
      apart({
        runs: [
          { run_id: 'r', pipeline: 'nightly', started_at: day(night), minimum_group: 5, relisting_days: 30 },
        ],
        passes: [
          {
            pass_id: 'p',
            run_id: 'r',
            stream: 'cars',
            kind: 'full',
            state: 'sealed',
            complete: true,
            records: 1,
            drift: '[]',
            started_at: day(night),
          },
        ],
        vehicles: base.vehicles,
        lots: [1, 3].flatMap((domain_id) =>
          Array.from({ length: 910 }, (_, i) => {
            const auction = night - 91 + Math.floor(i / 10);
            return lot({
              ...{ lot_id: domain_id * 10_000 + i, domain_id, domain_name: `source_${domain_id}` },
              ...{
                sale_date: day(auction - 0.5),
                status_id: i % 2 === 0 ? SOLD : 8,
                final_bid: 2_000 + 50 * (i % 7),
              },
              ...resultOf(domain_id, auction, i),
            });
          }),
        ),
      }),
    );
  const alarms = async () =>
    (
      await query(`select subject || ' ' || metric as alarm from data_health
      where is_alarm and is_current and metric like '%share' and metric <> 'null_share' order by 1`)
    ).map(({ alarm }) => alarm);

  it('raise an alarm within a week after they stop, and none before', async () => {
    const stopped = (source: number, auction: number): Given =>
      source === 3 && auction > 0 ? { status_id: 3, final_bid: null } : {};
    const raised: number[] = [];
    for (const night of [0, 2, 4, 5, 6, 7, 14]) {
      await nightOf(night, stopped);
      const found = await alarms();
      if (found.length > 0) raised.push(night);
      for (const alarm of found)
        expect(alarm).toMatch(/^source_3 \(3\), week of 2026-\d\d-\d\d no_result_share$/);
    }
    expect(raised).toEqual([4, 5, 6, 7, 14]);
  }, 120_000);

  it('raise an alarm if most never came', async () => {
    await nightOf(0, (source, _, i) => (source === 3 && i % 3 > 0 ? { status_id: 3, final_bid: null } : {}));
    expect(await alarms()).toEqual(['source_3 (3) no_result_share']);
  }, 60_000);

  it('raise none for what chance explains, or for what was always so', async () => {
    await nightOf(0, (_, auction, i) => ((i * 7) % 10 === 1 && auction % 2 === 0 ? { status_id: 3 } : {}));
    expect(await alarms()).toEqual([]);
    // 3 of the 70 auctions of the week, after 0 of 840
    await nightOf(0, (_, auction, i) => (auction === -5 && i % 10 < 3 ? { status_id: 3 } : {}));
    expect(await alarms()).toEqual([]);
  }, 120_000);

  it('raise an alarm if sales lack amounts, or prices of a week are absurd', async () => {
    await nightOf(0, (source, auction, i) =>
      auction < -9 || i % 4 > 0 ? {} : { final_bid: source === 3 ? null : 1 },
    );
    const week = 'week of 2026-09-01';
    expect(await alarms()).toEqual([
      `source_1 (1), ${week} outlier_share`,
      `source_3 (3), ${week} no_amount_share`,
    ]);
    const found = await query(
      `select metric, value from data_health where subject = 'source_3 (3), ${week}' order by metric`,
    );
    expect(found).toMatchObject([
      { metric: 'no_amount_share' },
      { metric: 'no_result_share', value: 0 },
      { metric: 'outlier_share', value: 0 },
    ]);
  }, 60_000);
});

describe('the model years of a source', () => {
  const { compute, query } = openMarts('data_health');
  const NIGHT = Date.UTC(2026, 8, 10, 2);
  const camry = { manufacturer_id: 124, manufacturer_name: 'Toyota', model_id: 2010, model_name: 'Camry' };
  /** A year that the feed cannot mean, and a VIN that is sure of 2014 while the feed says 2020. */
  const [doubted, corrected] = [{ year: 2090 }, { year: 2020, vin: vinOf('4T1BF1F', 'E') }];

  /** Ten lots a day of two sources in the 91 days before a night, with a vehicle each, which `carOf` describes. */
  const listed = (carOf: (source: number, day: number, i: number) => Given) => {
    const lots = [1, 3].flatMap((domain_id) =>
      Array.from({ length: 910 }, (_, i) => {
        const [id, day] = [domain_id * 10_000 + i, Math.floor(i / 10) - 91];
        const created_at = new Date(NIGHT + (day + 0.5) * 86_400_000).toISOString();
        const car = { vehicle_id: id, vehicle_type_id: 1, year: 2020, ...camry, ...carOf(domain_id, day, i) };
        return {
          car,
          row: lot({ lot_id: id, vehicle_id: id, domain_id, domain_name: `source_${domain_id}`, created_at }),
        };
      }),
    );
    const started_at = new Date(NIGHT).toISOString();
    return compute({
      runs: [{ run_id: 'r', pipeline: 'nightly', started_at, minimum_group: 5, relisting_days: 30 }],
      vehicles: lots.map(({ car }) => car),
      lots: lots.map(({ row }) => row),
    });
  };
  const figures = async (where: string) => {
    const found = await query(`select subject, metric, value, is_alarm, is_current from data_health
      where metric in ('doubted_year_share', 'year_from_vin_share') and ${where} order by 1, 2`);
    return found.map((row) => [row.subject, row.metric, row.value, row.is_alarm, row.is_current]);
  };

  it('are shares of all vehicles', async () => {
    await listed((_, __, i) => (i % 10 === 0 ? doubted : i % 5 === 1 ? corrected : {}));
    expect(await figures("subject = 'vehicles.year'")).toEqual([
      ['vehicles.year', 'doubted_year_share', 0.1, false, true],
      ['vehicles.year', 'year_from_vin_share', 0.2, false, true],
    ]);
    expect(await figures('is_alarm')).toEqual([]);
  }, 60_000);

  it('raise an alarm in a week in which more are doubted or corrected than before', async () => {
    // The last week ends three days before the night.
    await listed((source, day, i) => (day < -10 || i % 2 === 0 ? {} : source === 3 ? doubted : corrected));
    expect(await figures('is_alarm')).toEqual([
      ['source_1 (1), week of 2026-09-01', 'year_from_vin_share', 0.5, true, true],
      ['source_3 (3), week of 2026-09-01', 'doubted_year_share', 0.5, true, true],
    ]);
  }, 60_000);

  it('raise an alarm if most are doubted, and none for a share that was always so', async () => {
    await listed((source, _, i) => ((source === 3 ? i % 3 > 0 : i % 3 === 0) ? doubted : {}));
    const found = await figures('is_alarm');
    expect(found.map(([subject, metric]) => `${subject} ${metric}`)).toEqual([
      'source_3 (3) doubted_year_share',
    ]);
  }, 60_000);

  it('know nothing of lots that no source dates', async () => {
    await compute({ ...base, lots: [lot()] });
    expect(await figures("subject <> 'vehicles.year'")).toEqual([]);
  });
});
