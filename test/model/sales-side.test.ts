import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDataTests } from '../../src/model/data-tests.js';
import { apart, base, entry, lot, SOLD } from './cases.js';
import { computeMarts, type Given, openLake, type TestLake, testsOf, texts } from './support.js';

const NOT_SOLD = 8;
const ON_APPROVAL = 4;

const MARTS = ['sell_through', 'time_to_sale', 'relisting', 'seller_types', 'title_breakdown'];
const tests = testsOf(...MARTS);

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

/**
 * Computes the marts of what is given, with a vehicle for each lot, and answers a query; the tests and checks of these
 * marts must pass.
 */
const ask = (given: Readonly<Record<string, readonly Given[]>>, sql: string) =>
  askTogether(apart({ ...base, ...given }), sql);

/** The same for lots that may share a vehicle. */
async function askTogether(given: Readonly<Record<string, readonly Given[]>>, sql: string) {
  await computeMarts(lake, { ...base, ...given }, ...MARTS);
  const failed = (await runDataTests(lake.connection, tests)).filter(({ failures }) => failures > 0);
  expect(failed).toEqual([]);
  return texts(lake, sql);
}

/** Lots of one auction each, numbered from `from`. */
const auctioned = (count: number, from: number, day: string, status_id: number, rest: Given = {}): Given[] =>
  Array.from({ length: count }, (_, place) =>
    lot({ lot_id: from + place, sale_date: `${day}T15:00:00Z`, status_id, final_bid: 1000, ...rest }),
  );

describe('sell_through', () => {
  it('counts attempts by their outcome and leaves out what is unresolved or still to come', async () => {
    const lots = [
      ...auctioned(3, 100, '2026-08-03', SOLD),
      ...auctioned(2, 200, '2026-08-04', NOT_SOLD),
      ...auctioned(1, 300, '2026-08-05', ON_APPROVAL),
      ...auctioned(1, 400, '2026-08-06', 3),
      ...auctioned(2, 500, '2026-10-06', SOLD),
    ];
    const found = await ask(
      { lots },
      `select cast(month as varchar) as month, domain_name, lots_offered, lots_unresolved, lots_sold, lots_not_sold,
        lots_on_approval, sell_through from sell_through`,
    );
    expect(found).toEqual([
      {
        ...{
          month: '2026-08-01',
          domain_name: 'copart_com',
          lots_offered: 6,
          lots_unresolved: 1,
          lots_sold: 3,
        },
        ...{ lots_not_sold: 2, lots_on_approval: 1, sell_through: 0.5 },
      },
    ]);
  });

  it('separates first attempts from later ones, also where the first is unresolved', async () => {
    const relisted = Array.from({ length: 5 }, (_, place) => [
      entry('2026-08-01T15:00:00Z', place === 0 ? 3 : NOT_SOLD, 900, { lot_id: 100 + place }),
      entry('2026-08-10T15:00:00Z', place < 4 ? SOLD : NOT_SOLD, 900, { lot_id: 100 + place }),
    ]).flat();
    const lots = [100, 101, 102, 103, 104].map((lot_id) => lot({ lot_id }));
    const found = await ask(
      { lots, prices: relisted },
      `select lots_offered, lots_unresolved, first_offered, first_sold, first_sell_through, later_offered, later_sold,
        later_sell_through from sell_through`,
    );
    expect(found).toEqual([
      {
        ...{ lots_offered: 9, lots_unresolved: 1, first_offered: 4, first_sold: 0, first_sell_through: null },
        ...{ later_offered: 5, later_sold: 4, later_sell_through: 0.8 },
      },
    ]);
  });

  it('pools a month with the two calendar months before it, over the end of a year and over gaps', async () => {
    const lots = [
      ...auctioned(3, 100, '2025-11-10', SOLD),
      ...auctioned(3, 200, '2026-01-10', NOT_SOLD),
      ...auctioned(1, 300, '2026-02-10', SOLD),
      ...auctioned(2, 400, '2026-03-10', SOLD),
    ];
    const found = await ask(
      { lots },
      `select cast(month as varchar) as month, lots_offered, sell_through, sell_through_3m
       from sell_through order by month`,
    );
    expect(found).toEqual([
      { month: '2025-11-01', lots_offered: 3, sell_through: null, sell_through_3m: null },
      { month: '2026-01-01', lots_offered: 3, sell_through: null, sell_through_3m: 0.5 },
      { month: '2026-02-01', lots_offered: 1, sell_through: null, sell_through_3m: null },
      { month: '2026-03-01', lots_offered: 2, sell_through: null, sell_through_3m: 0.5 },
    ]);
  });
});

describe('time_to_sale', () => {
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
      `select manufacturer_name, lots_sold, timed_lots, days_median, days_p25, days_p90, attempts_mean, open_lots
       from time_to_sale`,
    );
    expect(found).toEqual([
      {
        ...{
          manufacturer_name: 'Ford',
          lots_sold: 7,
          timed_lots: 5,
          days_median: 2,
          days_p25: 1,
          days_p90: 3.6,
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
      'select lots_sold, days_median, attempts_mean from time_to_sale',
    );
    expect(found).toEqual([{ lots_sold: 5, days_median: 30, attempts_mean: 2.8 }]);
  });

  it('counts the days of a vehicle over all its lots and sources to the sale that held', async () => {
    const created = (lot_id: number, created_at: string, vehicle_id: number, rest: Given): Given =>
      lot({ lot_id, vehicle_id, created_at, final_bid: 900, ...rest });
    const ids = [11, 12, 13, 14, 15];
    // Vehicles that stand on one source alone show since when it is observed.
    const alone = [
      created(901, '2026-01-01', 901, { sale_date: null }),
      created(902, '2026-01-01', 902, { sale_date: null, domain_id: 1, domain_name: 'iaai_com' }),
    ];
    const cars = ids.flatMap((id) => [
      // Sold before, half a year ago, and now over a sale that did not hold.
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
      `select domain_id, lots_sold, timed_lots, days_median, attempts_mean, timed_vehicles, vehicle_days_median,
        vehicle_attempts_mean from time_to_sale order by domain_id`,
    );
    const none = { days_median: null, attempts_mean: null, vehicle_days_median: null };
    expect(found).toEqual([
      {
        ...{ domain_id: 1, lots_sold: 0, timed_lots: 0, timed_vehicles: 0, vehicle_attempts_mean: null },
        ...none,
      },
      {
        ...{ domain_id: 3, lots_sold: 10, timed_lots: 10, days_median: 20.5, attempts_mean: 1 },
        ...{ timed_vehicles: 10, vehicle_days_median: 30.5, vehicle_attempts_mean: 1.5 },
      },
    ]);
    expect(
      await texts(
        lake,
        'select domain_id, lots_reached, lots_sold, offered_again_lots, sold_share from relisting order by domain_id',
      ),
    ).toEqual([
      { domain_id: 1, lots_reached: 5, lots_sold: 0, offered_again_lots: 5, sold_share: 0 },
      { domain_id: 3, lots_reached: 10, lots_sold: 10, offered_again_lots: 0, sold_share: 1 },
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
      `select domain_id, lots_sold, open_lots, open_days_median, left_lots, left_days_median
       from time_to_sale order by domain_id`,
    );
    expect(found).toEqual([
      {
        ...{ domain_id: 3, lots_sold: 2, open_lots: 5, open_days_median: 3 },
        ...{ left_lots: 1, left_days_median: null },
      },
      {
        ...{ domain_id: 12, lots_sold: 0, open_lots: 0, open_days_median: null },
        ...{ left_lots: 5, left_days_median: 2 },
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
      'select manufacturer_id, model_name, open_lots from time_to_sale order by manufacturer_id',
    );
    expect(found).toEqual([
      { manufacturer_id: 5, model_name: 'F-150', open_lots: 1 },
      { manufacturer_id: null, model_name: null, open_lots: 1 },
    ]);
  });
});

/** The vehicle of `base` with a model year, by which prices are compared. */
const ofYear = [{ ...base.vehicles[0], year: 2020 }];
/** A lot of such a vehicle that was sold at its first attempt. */
const soldFor = (final_bid: number, rest: Given = {}): Given =>
  lot({ lot_id: final_bid, sale_date: '2026-08-01T15:00:00Z', status_id: SOLD, final_bid, ...rest });

describe('relisting', () => {
  it('puts the tenth attempt and all later ones together', async () => {
    const days = Array.from({ length: 12 }, (_, week) => new Date(Date.UTC(2026, 4, 1 + 7 * week, 15)));
    const lots = [1, 2, 3, 4, 5].map((lot_id) => lot({ lot_id }));
    const prices = lots.flatMap(({ lot_id = null }) =>
      days.map((day, place) =>
        entry(day.toISOString(), place === 11 ? SOLD : NOT_SOLD, 1000 * 1.1 ** place, { lot_id }),
      ),
    );
    const found = await ask(
      { lots, prices },
      `select attempt, lots_reached, lots_sold, round(sold_share, 4) as share, days_since_previous_median as days,
        changed_lots, round(amount_change_share_median, 4) as change
       from relisting where attempt in (1, 9, 10) order by attempt`,
    );
    expect(found).toEqual([
      { attempt: 1, lots_reached: 5, lots_sold: 0, share: 0, days: null, changed_lots: 0, change: null },
      { attempt: 9, lots_reached: 5, lots_sold: 0, share: 0, days: 7, changed_lots: 5, change: 0.1 },
      { attempt: 10, lots_reached: 15, lots_sold: 5, share: 0.3333, days: 7, changed_lots: 15, change: 0.1 },
    ]);
    expect(await texts(lake, 'select count(*) as n from relisting')).toEqual([{ n: 10 }]);
  });

  it('compares prices with those of first attempts of the same model year, and leaves out unknown years', async () => {
    const first = [1000, 1100, 1200, 1300, 1400].map((price) => soldFor(price));
    const again = [1, 2, 3, 4, 5].map((lot_id) => lot({ lot_id }));
    const yearless = [6, 7].map((lot_id) => lot({ lot_id, vehicle_id: 11 }));
    const prices = [...again, ...yearless].flatMap(({ lot_id = null }) => [
      entry('2026-08-01T15:00:00Z', NOT_SOLD, 500, { lot_id }),
      entry('2026-08-20T15:00:00Z', SOLD, 900, { lot_id }),
    ]);
    const vehicles = [...ofYear, { ...base.vehicles[0], vehicle_id: 11 }];
    const found = await ask(
      { vehicles, prices, lots: [...first, ...again, ...yearless] },
      `select attempt, lots_sold, compared_lots, price_ratio_to_first_median as ratio from relisting order by attempt`,
    );
    expect(found).toEqual([
      { attempt: 1, lots_sold: 5, compared_lots: 5, ratio: 1 },
      { attempt: 2, lots_sold: 7, compared_lots: 5, ratio: 0.75 },
    ]);
  });

  it('leaves out attempts that are not resolved or still to come', async () => {
    const prices = [
      entry('2026-08-01T15:00:00Z', 3, 500),
      entry('2026-08-20T15:00:00Z', NOT_SOLD, 500),
      entry('2026-09-20T15:00:00Z', 3, null),
    ];
    const found = await ask({ lots: [lot()], prices }, 'select attempt, lots_reached from relisting');
    expect(found).toEqual([{ attempt: 2, lots_reached: 1 }]);
  });
});

describe('seller_types', () => {
  it('recognizes insurers by id or name and keeps other names', async () => {
    const given: readonly Given[] = [
      { seller_type_id: 1, seller_type_name: 'Insurance Company' },
      { seller_type_id: 2 },
      { seller_type_name: ' Insurance ' },
      { seller_type_id: 9, seller_type_name: ' Fleet' },
      { seller_type_name: '  ' },
      {},
    ];
    const lots = given.map((type, lot_id) => lot({ lot_id, ...type }));
    const found = await ask(
      { lots },
      'select seller_type, lots, share, lots_offered, sell_through, price_median from seller_types order by seller_type',
    );
    const none = { lots_offered: 0, sell_through: null, price_median: null };
    expect(found).toEqual([
      { seller_type: 'fleet', lots: 1, share: 1 / 6, ...none },
      { seller_type: 'insurance', lots: 2, share: 2 / 6, ...none },
      { seller_type: 'non_insurance', lots: 1, share: 1 / 6, ...none },
      { seller_type: 'unknown', lots: 2, share: 2 / 6, ...none },
    ]);
  });

  it('compares a relisted lot once, by the price that it was sold for', async () => {
    const insurer = { seller_type_id: 1 };
    const lots = [1000, 1100, 1200, 1300, 1400].map((price) => soldFor(price, insurer));
    const prices = [
      entry('2026-07-01T15:00:00Z', NOT_SOLD, 100, { lot_id: 1000 }),
      entry('2026-07-10T15:00:00Z', SOLD, 200, { lot_id: 1000 }),
    ];
    const found = await ask(
      { vehicles: ofYear, lots: [...lots, soldFor(1500)], prices },
      `select seller_type, lots_offered, lots_sold, round(sell_through, 4) as rate, priced_lots, price_median,
        compared_lots, round(price_ratio_median, 4) as ratio from seller_types order by seller_type`,
    );
    expect(found).toEqual([
      {
        ...{ seller_type: 'insurance', lots_offered: 7, lots_sold: 5, rate: 0.7143, priced_lots: 5 },
        ...{ price_median: 1200, compared_lots: 5, ratio: 0.9231 },
      },
      {
        ...{ seller_type: 'unknown', lots_offered: 1, lots_sold: 1, rate: null, priced_lots: 1 },
        ...{ price_median: null, compared_lots: 1, ratio: null },
      },
    ]);
  });
});

describe('title_breakdown', () => {
  const ratios = async (prices: readonly number[]) => {
    const lots = prices.map((price) => soldFor(price, { title_name: `Clear Title Of ${price}` }));
    const runs = [{ run_id: 'r', started_at: '2026-09-10T02:00:00Z', minimum_group: 1 }];
    const found = await ask(
      { runs, vehicles: ofYear, lots },
      'select round(price_ratio_median, 4) as ratio from title_breakdown order by price_median',
    );
    return found.map(({ ratio }) => ratio);
  };

  it('compares each price with the median of the others', async () => {
    expect(await ratios([100, 200, 300, 400, 500, 600])).toEqual([0.25, 0.5, 0.75, 1.3333, 1.6667, 2]);
    expect(await ratios([100, 200, 300, 400, 500])).toEqual([0.2857, 0.5714, 1, 1.6, 2]);
    expect(await ratios([100, 200])).toEqual([0.5, 2]);
    expect(await ratios([100])).toEqual([null]);
  });

  it('needs as many other prices as the minimum group, of the same source and year', async () => {
    const vehicles = [...ofYear, { ...base.vehicles[0], vehicle_id: 11, year: 2021 }];
    const five = [1000, 1100, 1200, 1300, 1400].map((price) => soldFor(price, { title_name: 'Salvage' }));
    const elsewhere = [
      soldFor(9000, { title_name: 'Salvage', domain_id: 1 }),
      soldFor(9100, { title_name: 'Clean', vehicle_id: 11 }),
    ];
    const query = `select domain_id, title_name, lots, priced_lots, price_median, compared_lots,
      round(price_ratio_median, 4) as ratio from title_breakdown order by domain_id, title_name`;
    const other = { lots: 1, priced_lots: 1, price_median: null, compared_lots: 0, ratio: null };
    expect(await ask({ vehicles, lots: [...five, ...elsewhere] }, query)).toEqual([
      { domain_id: 1, title_name: 'Salvage', ...other },
      { domain_id: 3, title_name: 'Clean', ...other },
      {
        ...{ domain_id: 3, title_name: 'Salvage', lots: 5, priced_lots: 5, price_median: 1200 },
        ...{ compared_lots: 0, ratio: null },
      },
    ]);
    const sixth = soldFor(2400, { title_name: 'Clean' });
    expect((await ask({ vehicles, lots: [...five, sixth] }, query)).at(-1)).toMatchObject({
      ...{ title_name: 'Salvage', compared_lots: 5, ratio: 0.9231 },
    });
  });

  it('keeps titles apart as the feed names them, calls a missing one unknown, and counts lots of every source', async () => {
    const lots = [
      lot({ lot_id: 1, title_name: ' Parts Only' }),
      lot({ lot_id: 2, title_name: 'Parts Only', archived: true }),
      lot({ lot_id: 3, title_name: 'parts only' }),
      lot({ lot_id: 4, title_name: '' }),
      lot({ lot_id: 5, domain_id: 12 }),
    ];
    const found = await ask(
      { lots },
      'select domain_id, title_name, lots, share from title_breakdown order by domain_id, title_name',
    );
    expect(found).toEqual([
      { domain_id: 3, title_name: 'Parts Only', lots: 2, share: 0.5 },
      { domain_id: 3, title_name: 'parts only', lots: 1, share: 0.25 },
      { domain_id: 3, title_name: 'unknown', lots: 1, share: 0.25 },
      { domain_id: 12, title_name: 'unknown', lots: 1, share: 1 },
    ]);
  });
});
