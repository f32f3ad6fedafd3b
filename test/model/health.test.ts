import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDataTests } from '../../src/model/data-tests.js';
import { base, lot, SOLD } from './cases.js';
import { computeMarts, fill, type Given, openLake, type TestLake, texts } from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

/** Replaces what `computeMarts` leaves alone as well; checks of the mart are run over what it made. */
async function compute(mart: string, given: Readonly<Record<string, readonly Given[]>>): Promise<void> {
  for (const table of ['lot_changes', 'statistics', 'rejects'])
    await fill(lake.connection, table, given[table] ?? []);
  await computeMarts(lake, given);
  const failed = (await runDataTests(lake.connection)).filter(
    ({ model, test, failures }) => failures > 0 && `${model} ${test}`.includes(mart),
  );
  expect(failed).toEqual([]);
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

  it('counts a lot that leaves, returns and leaves again each time, also within a day', async () => {
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

  it('counts a lot that came archived from its return on', async () => {
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

  it('begins with each source by itself, and ends with the day of a pass that began after midnight', async () => {
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

  it('takes every engine where the record names none, and else that one', async () => {
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

  it('leaves auctions after the calculation out, and other years, types and sources', async () => {
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

  it('says nothing of a record without figures, and gives no share of 0', async () => {
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
});
