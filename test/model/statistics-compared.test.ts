import { describe, expect, it } from 'vitest';
import { apart, base, lot, SOLD } from './cases.js';
import { type Given, openMarts } from './support.js';

const marts = openMarts('statistics_compared');
const { query } = marts;
/** Computes the mart with a vehicle for each lot. */
const compute = (given: Readonly<Record<string, readonly Given[]>>) => marts.compute(apart(given));

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
    query(`select lots, price_avg, price_min, price_max, avg_difference, round(avg_difference_share, 6) as share, is_within
       from statistics_compared order by statistic_id`);
  const none = { price_avg: null, price_min: null, price_max: null, avg_difference: null, share: null };
  const five = [1, 2, 3, 4, 5].map((n) => sold(n, 1, n * 1000));

  it('compares with all engines if the record names none, and otherwise with its engine', async () => {
    await compute({
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
    await compute({
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
    await compute({
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

  it('gives a difference from a mean that is too large to round', async () => {
    await compute({
      ...{ ...base, vehicles, lots: five, statistics: [record({ avg_final_bid: 1e307 })] },
    });
    expect(await compared()).toMatchObject([{ avg_difference: -1e307, share: -1 }]);
  });
});
