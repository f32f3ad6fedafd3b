import { describe, expect, it } from 'vitest';
import { auctioned, base, entry, lot, NOT_SOLD, SOLD } from './cases.js';
import { type Given, openMarts } from './support.js';

const { ask, compute, query } = openMarts('days_on_market', 'sell_through');

/** Runs a query over lots that may share a vehicle. */
async function askTogether(given: Readonly<Record<string, readonly Given[]>>, sql: string) {
  await compute({ ...base, ...given });
  return query(sql);
}

describe('days_on_market of the level model', () => {
  it('counts whole days to the sale, of lots that were created before it', async () => {
    const created = [
      '2026-07-31T23:59:00Z',
      '2026-07-30',
      '2026-07-29',
      '2026-07-28',
      '2026-08-01T14:59:00Z',
    ];
    const lots = [
      ...created.map((created_at, place) => lot({ lot_id: place, created_at })),
      lot({ lot_id: 8, created_at: '2026-08-02T00:01:00Z' }),
      lot({ lot_id: 9, created_at: null }),
    ].map((given) => ({ ...given, sale_date: '2026-08-01T15:00:00Z', status_id: SOLD, final_bid: 1000 }));
    const found = await ask(
      { lots },
      `select manufacturer_name, known_sold, timed_lots, sold_days_median, sold_days_p25, sold_days_p90, attempts_mean, open_lots
       from days_on_market where level = 'model'`,
    );
    expect(found).toEqual([
      {
        ...{
          manufacturer_name: 'Ford',
          known_sold: 7,
          timed_lots: 5,
          sold_days_median: 2,
          sold_days_p25: 1,
          sold_days_p90: 3.6,
        },
        ...{ attempts_mean: 1, open_lots: 0 },
      },
    ]);
  });

  it('counts a relisted lot from its creation, with its number of attempts', async () => {
    const lots = [1, 2, 3, 4, 5].map((lot_id) => lot({ lot_id, created_at: '2026-07-01T00:00:00Z' }));
    const prices = lots.flatMap(({ lot_id = null }) => [
      entry('2026-07-11T15:00:00Z', NOT_SOLD, 900, { lot_id }),
      entry('2026-07-21T15:00:00Z', lot_id === 5 ? SOLD : NOT_SOLD, 900, { lot_id }),
      ...(lot_id === 5 ? [] : [entry('2026-07-31T15:00:00Z', SOLD, 900, { lot_id })]),
    ]);
    const found = await ask(
      { lots, prices },
      "select known_sold, sold_days_median, attempts_mean from days_on_market where level = 'model'",
    );
    expect(found).toEqual([{ known_sold: 5, sold_days_median: 30, attempts_mean: 2.8 }]);
  });

  it('counts the days of a vehicle over all its lots and sources to the sale that held', async () => {
    const created = (lot_id: number, created_at: string, vehicle_id: number, rest: Given): Given =>
      lot({ lot_id, vehicle_id, created_at, final_bid: 900, ...rest });
    const ids = [11, 12, 13, 14, 15];
    // Vehicles on only one source show since when that source has been observed.
    const alone = [
      created(901, '2026-01-01', 901, { sale_date: null }),
      created(902, '2026-01-01', 902, { sale_date: null, domain_id: 1, domain_name: 'iaai_com' }),
    ];
    const cars = ids.flatMap((id) => [
      // It was sold half a year ago, and again now, after a sale that did not hold.
      created(id, '2026-01-01', id, { sale_date: '2026-02-01T15:00:00Z', status_id: SOLD }),
      created(id + 100, '2026-07-01', id, {
        ...{ sale_date: '2026-07-11T15:00:00Z', status_id: SOLD, domain_id: 1, domain_name: 'iaai_com' },
      }),
      created(id + 200, '2026-07-21', id, { sale_date: '2026-07-31T15:00:00Z', status_id: SOLD }),
    ]);
    const lots = [...alone, ...cars];
    const vehicles = [...ids, 901, 902].map((vehicle_id) => ({ ...base.vehicles[0], vehicle_id }));
    const found = await askTogether(
      { lots, vehicles },
      `select domain_id, known_sold, timed_lots, sold_days_median, attempts_mean, timed_vehicles, vehicle_days_median,
        vehicle_attempts_mean from days_on_market where level = 'model' order by domain_id`,
    );
    const none = { sold_days_median: null, attempts_mean: null, vehicle_days_median: null };
    expect(found).toEqual([
      {
        ...{ domain_id: 1, known_sold: 0, timed_lots: 0, timed_vehicles: 0, vehicle_attempts_mean: null },
        ...none,
      },
      {
        ...{ domain_id: 3, known_sold: 10, timed_lots: 10, sold_days_median: 20.5, attempts_mean: 1 },
        ...{ timed_vehicles: 10, vehicle_days_median: 30.5, vehicle_attempts_mean: 1.5 },
      },
    ]);
    expect(
      await query(
        "select domain_id, lots_offered, lots_sold, offered_again_lots, sell_through from sell_through where level = 'attempt' order by domain_id",
      ),
    ).toEqual([
      { domain_id: 1, lots_offered: 5, lots_sold: 0, offered_again_lots: 5, sell_through: 0 },
      { domain_id: 3, lots_offered: 10, lots_sold: 10, offered_again_lots: 0, sell_through: 1 },
    ]);
  });

  it('shows open lots and lots that left beside the sold ones, also of source 12', async () => {
    const days = ['2026-09-06', '2026-09-07', '2026-09-08', '2026-09-09', '2026-08-01'];
    const lots = [
      ...days.map((created_at, place) => lot({ lot_id: place, created_at })),
      ...auctioned(1, 50, '2026-08-20', SOLD, { created_at: '2026-08-01' }),
      ...auctioned(1, 60, '2026-08-20', SOLD, {
        ...{
          created_at: '2026-08-01',
          archived: true,
          archived_at: '2026-08-21',
          last_seen_at: '2026-08-22',
        },
      }),
      ...days.map((created_at, place) =>
        lot({
          ...{ lot_id: 100 + place, domain_id: 12, domain_name: 'encar_com', created_at, archived: true },
          ...{
            archived_at: '2026-09-09T12:00:00Z',
            status_id: SOLD,
            sale_date: '2026-09-09',
            final_bid: 100,
          },
        }),
      ),
    ];
    const found = await ask(
      { lots },
      `select domain_id, known_sold, open_lots, open_days_median, known_left, left_days_median
       from days_on_market where level = 'model' order by domain_id`,
    );
    expect(found).toEqual([
      {
        ...{ domain_id: 3, known_sold: 2, open_lots: 5, open_days_median: 3 },
        ...{ known_left: 1, left_days_median: null },
      },
      {
        ...{ domain_id: 12, known_sold: 0, open_lots: 0, open_days_median: null },
        ...{ known_left: 5, left_days_median: 2 },
      },
    ]);
  });

  it('keeps vehicles without a manufacturer or model as a group of their own', async () => {
    const vehicles = [...base.vehicles, { vehicle_id: 11 }];
    const lots = [
      lot({ created_at: '2026-09-01' }),
      lot({ lot_id: 2, vehicle_id: 11, created_at: '2026-09-01' }),
    ];
    const found = await ask(
      { vehicles, lots },
      "select manufacturer_id, model_name, open_lots from days_on_market where level = 'model' order by manufacturer_id",
    );
    expect(found).toEqual([
      { manufacturer_id: 5, model_name: 'F-150', open_lots: 1 },
      { manufacturer_id: null, model_name: null, open_lots: 1 },
    ]);
  });
});
