import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDataTests } from '../../src/model/data-tests.js';
import { base, lot, SOLD } from './cases.js';
import { computeMarts, type Given, openLake, type TestLake, texts } from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const ford = { manufacturer_id: 5, manufacturer_name: 'Ford', model_id: 50, model_name: 'F-150' };
const vehicles = [
  { vehicle_id: 20, ...ford, year: 2020 },
  { vehicle_id: 21, ...ford, year: 2021 },
  { vehicle_id: 99, ...ford },
];

let next = 1;
/** Lots of one vehicle, each sold for one of the prices. */
const sold = (prices: readonly number[], rest: Given = {}): Given[] =>
  prices.map((final_bid) =>
    lot({
      lot_id: next++,
      vehicle_id: 20,
      sale_date: '2026-08-01T15:00:00Z',
      status_id: SOLD,
      final_bid,
      ...rest,
    }),
  );

/** Computes the marts of some lots, sees that their tests pass, and gives the rows of a query. */
async function query(lots: readonly Given[], sql: string, given: Readonly<Record<string, Given[]>> = {}) {
  await computeMarts(lake, { ...base, vehicles, ...given, lots });
  const failed = (await runDataTests(lake.connection)).filter(({ failures }) => failures > 0);
  expect(failed.map(({ model, test, sample }) => ({ model, test, sample }))).toEqual([]);
  return texts(lake, sql);
}

describe('regional_prices', () => {
  const texas = { location_country_iso: ' us', location_state_code: 'tx ', location_state_name: ' texas' };
  const dallas = { ...texas, location_city_id: 12, location_city_name: 'dallas ' };
  const houston = { ...texas, location_city_id: 13, location_city_name: 'houston' };

  it('compare with the national median of all sources, and spell places in one way', async () => {
    const lots = [
      ...sold([800, 900, 1000], { ...dallas, location_state_code: 'TX', domain_id: 1 }),
      ...sold([800, 1200], dallas),
      ...sold([2000, 2100], houston),
    ];
    const found = await query(
      lots,
      `select level, country_iso, state_code, state_name, city_name, lots, priced_lots, price_median, compared_lots,
        price_ratio_median, round(price_ratio_p25, 6) as price_ratio_p25, price_ratio_p75 from regional_prices order by level, city_name`,
    );
    const state = { country_iso: 'US', state_code: 'TX', state_name: 'texas' };
    const none = {
      price_median: null,
      price_ratio_median: null,
      price_ratio_p25: null,
      price_ratio_p75: null,
    };
    expect(found).toEqual([
      {
        ...{ level: 'city', ...state, city_name: 'dallas', lots: 5, priced_lots: 5, price_median: 900 },
        ...{ compared_lots: 5, price_ratio_median: 0.9, price_ratio_p25: 0.8, price_ratio_p75: 1 },
      },
      { level: 'city', ...state, city_name: 'houston', lots: 2, priced_lots: 2, compared_lots: 2, ...none },
      {
        ...{ level: 'state', ...state, city_name: null, lots: 7, priced_lots: 7, price_median: 1000 },
        ...{ compared_lots: 7, price_ratio_median: 1, price_ratio_p25: 0.85, price_ratio_p75: 1.6 },
      },
    ]);
  });

  it('keep countries as they are spelled, places without a name, and lots that were not sold', async () => {
    const lots = [
      ...sold([1000, 1000, 1000, 1000], { ...dallas, location_country_iso: 'USA' }),
      ...sold([1000, 1000, 1000, 1000], dallas),
      ...sold([1000, 1000, 1000, 1000, 1000]),
      lot({ lot_id: next++, vehicle_id: 20, location_country_iso: '', location_state_code: ' ' }),
      lot({ lot_id: next++, vehicle_id: 20, domain_id: 12, ...houston }),
    ];
    const found = await query(
      lots,
      `select country_iso, state_code, lots, lots_sold, priced_lots, compared_lots, price_median
       from regional_prices where level = 'state' order by country_iso nulls last`,
    );
    const few = {
      state_code: 'TX',
      lots: 4,
      lots_sold: 4,
      priced_lots: 4,
      compared_lots: 0,
      price_median: null,
    };
    expect(found).toEqual([
      { country_iso: 'US', ...few },
      { country_iso: 'USA', ...few },
      {
        ...{ country_iso: null, state_code: null, lots: 6, lots_sold: 5, priced_lots: 5, compared_lots: 0 },
        price_median: 1000,
      },
    ]);
  });

  it('stand where their lots stand, but for coordinates that cannot be', async () => {
    const at = (location_latitude: number | null, location_longitude: number | null) =>
      lot({ lot_id: next++, vehicle_id: 20, ...dallas, location_latitude, location_longitude });
    const lots = [at(32, -96), at(33, -97), at(0, 0), at(32, null), at(320, -96), at(32, -960)];
    expect(
      await query(
        [...lots, lot({ lot_id: next++, vehicle_id: 20, ...houston })],
        'select level, city_name, latitude, longitude from regional_prices order by level, city_name',
      ),
    ).toEqual([
      { level: 'city', city_name: 'dallas', latitude: 32.5, longitude: -96.5 },
      { level: 'city', city_name: 'houston', latitude: null, longitude: null },
      { level: 'state', city_name: null, latitude: 32.5, longitude: -96.5 },
    ]);
  });
});
