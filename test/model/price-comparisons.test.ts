import { describe, expect, it } from 'vitest';
import { apart, base, entry, lot, SOLD } from './cases.js';
import { type Given, openMarts } from './support.js';

const marts = openMarts(
  'regional_prices',
  'odometer_curve',
  'reserve_gap',
  'buy_now_premium',
  'repair_economics',
);

const ford = { manufacturer_id: 5, manufacturer_name: 'Ford', model_id: 50, model_name: 'F-150' };
const vehicles = [
  { vehicle_id: 20, ...ford, year: 2020 },
  { vehicle_id: 21, ...ford, year: 2021 },
  { vehicle_id: 99, ...ford },
];

let next = 1;
/** Lots of one vehicle, each sold at one of the prices. */
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

/** Computes the marts of some lots, expects their tests to pass, and returns the rows of a query. */
async function query(lots: readonly Given[], sql: string, given: Readonly<Record<string, Given[]>> = {}) {
  await marts.compute(apart({ ...base, vehicles, ...given, lots }));
  return marts.query(sql);
}

describe('regional_prices', () => {
  const texas = { location_country_iso: ' us', location_state_code: 'tx ', location_state_name: ' texas' };
  const dallas = { ...texas, location_city_id: 12, location_city_name: 'dallas ' };
  const houston = { ...texas, location_city_id: 13, location_city_name: 'houston' };

  it('compares with the national median of all sources, and unifies the spelling of places', async () => {
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

  it('treats two spellings as one place, and keeps unnamed places and unsold lots', async () => {
    const lots = [
      ...sold([1000, 1000, 1000, 1000], {
        ...dallas,
        location_country_iso: 'USA',
        location_state_code: null,
      }),
      ...sold([1000, 1000, 1000, 1000], dallas),
      ...sold([1000, 1000, 1000, 1000, 1000], { location_country_iso: null }),
      lot({ lot_id: next++, vehicle_id: 20, location_country_iso: '', location_state_code: ' ' }),
      lot({ lot_id: next++, vehicle_id: 20, domain_id: 12, ...houston }),
    ];
    const found = await query(
      lots,
      `select country_iso, state_code, lots, lots_sold, priced_lots, compared_lots, price_median
       from regional_prices where level = 'state' order by country_iso nulls last`,
    );
    expect(found).toEqual([
      {
        ...{ country_iso: 'US', state_code: 'TX', lots: 8, lots_sold: 8, priced_lots: 8, compared_lots: 8 },
        price_median: 1000,
      },
      {
        ...{ country_iso: null, state_code: null, lots: 6, lots_sold: 5, priced_lots: 5, compared_lots: 0 },
        price_median: null,
      },
    ]);
  });

  it('has the mean coordinates of its lots, without impossible ones', async () => {
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

describe('odometer_curve', () => {
  const driven = (prices: readonly number[], odometer_km: number, rest: Given = {}) =>
    sold(prices, { odometer_km, ...rest });

  it('compares each price with the median of the others of its model year at the same source', async () => {
    const lots = [
      ...driven([900, 900, 900, 1000, 1000], 25_000),
      ...driven([1000, 1000, 1100, 1100, 1100], 24_999),
      ...driven([5000, 5000, 5000, 5000, 5000, 5000], 10, { domain_id: 1 }),
    ];
    const found = await query(
      lots,
      `select level, model_name, age_years, odometer_band_km, priced_lots, price_median, compared_lots,
        price_ratio_median from odometer_curve order by level, odometer_band_km`,
    );
    const age = { age_years: 6 };
    const near = { ...age, odometer_band_km: 0, priced_lots: 11, price_median: 5000, compared_lots: 11 };
    const far = { ...age, odometer_band_km: 25_000, priced_lots: 5, price_median: 900, compared_lots: 5 };
    expect(found).toEqual([
      { level: 'all', model_name: null, ...near, price_ratio_median: 1 },
      { level: 'all', model_name: null, ...far, price_ratio_median: 0.9 },
      { level: 'model', model_name: 'F-150', ...near, price_ratio_median: 1 },
      { level: 'model', model_name: 'F-150', ...far, price_ratio_median: 0.9 },
    ]);
  });

  it('ends at 30 years and 400,000 km, and counts a future model year as new', async () => {
    const old = [
      { vehicle_id: 31, ...ford, year: 1931 },
      { vehicle_id: 27, ...ford, year: 2027 },
      { vehicle_id: 96, ...ford, year: 1996 },
      { vehicle_id: 97, ...ford, year: 1997 },
    ];
    const lots = [31, 27, 96, 97].flatMap((vehicle_id) =>
      driven([1000], vehicle_id === 31 ? 1_999_999 : 399_999, { vehicle_id }),
    );
    expect(
      await query(
        lots,
        `select age_years, odometer_band_km, priced_lots from odometer_curve where level = 'all'
         order by age_years, odometer_band_km`,
        { vehicles: old },
      ),
    ).toEqual([
      { age_years: 0, odometer_band_km: 375_000, priced_lots: 1 },
      { age_years: 29, odometer_band_km: 375_000, priced_lots: 1 },
      { age_years: 30, odometer_band_km: 375_000, priced_lots: 1 },
      { age_years: 30, odometer_band_km: 400_000, priced_lots: 1 },
    ]);
  });

  it('takes the year of the sale in UTC, and leaves out lots without a reading, price or model year', async () => {
    const lots = [
      ...driven([1000], 1000, { sale_date: '2025-12-31T23:30:00Z' }),
      ...driven([1000], 1000, { sale_date: '2026-01-01T00:30:00Z' }),
      ...driven([1000, 1000], 0),
      ...driven([1000], 1000, { odometer_status_id: 5 }),
      ...driven([1000], 1000, { odometer_unit_uncertain: true }),
      ...driven([1000], 1000, { vehicle_id: 99 }),
      ...driven([1000], 1000, { status_id: 8 }),
    ];
    expect(
      await query(
        lots,
        "select age_years, priced_lots, compared_lots from odometer_curve where level = 'all' order by age_years",
      ),
    ).toEqual([
      { age_years: 5, priced_lots: 1, compared_lots: 1 },
      { age_years: 6, priced_lots: 1, compared_lots: 1 },
    ]);
  });
});

describe('reserve_gap', () => {
  const reserved = (final_bid: number | null, seller_reserve_price: number, status_id: number): Given =>
    lot({
      lot_id: next++,
      vehicle_id: 20,
      sale_date: '2026-08-01T15:00:00Z',
      final_bid,
      status_id,
      seller_reserve_price,
    });

  it('shows how far the bids are from the reserve, by result', async () => {
    const lots = [
      ...[800, 1000, 1100, 1200, 2000].map((bid) => reserved(bid, 1000, SOLD)),
      ...[500, 600].map((bid) => reserved(bid, 1000, 8)),
      reserved(900, 1000, 4),
    ];
    const found = await query(
      lots,
      `select outcome, lots, met_lots, met_share, reserve_median, amount_median, gap_median,
        round(gap_share_median, 6) as middle, round(gap_share_p25, 6) as low, round(gap_share_p75, 6) as high
       from reserve_gap order by outcome desc`,
    );
    const few = {
      ...{ met_lots: 0, met_share: null, reserve_median: null, amount_median: null, gap_median: null },
      ...{ middle: null, low: null, high: null },
    };
    expect(found).toEqual([
      {
        ...{
          outcome: 'sold',
          lots: 5,
          met_lots: 4,
          met_share: 0.8,
          reserve_median: 1000,
          amount_median: 1100,
        },
        ...{ gap_median: 100, middle: 0.1, low: 0, high: 0.2 },
      },
      { outcome: 'on_approval', lots: 1, ...few },
      { outcome: 'not_sold', lots: 2, ...few },
    ]);
  });

  it('takes only the last held attempt, and leaves out lots whose last amount or reserve is unknown', async () => {
    const coming: Given = { ...reserved(null, 1000, 3), sale_date: '2026-10-01T15:00:00Z' };
    const unpriced: Given = { ...reserved(null, 1000, SOLD), sale_date: '2026-09-01T15:00:00Z' };
    const lots = [
      coming,
      unpriced,
      reserved(900, 0, SOLD),
      reserved(900, 5_000_001, SOLD),
      reserved(0.5, 1000, 8),
    ];
    const prices = [
      entry('2026-08-01T15:00:00Z', 8, 700, { lot_id: coming.lot_id ?? null }),
      entry('2026-08-11T15:00:00Z', SOLD, 1000, { lot_id: coming.lot_id ?? null }),
      entry('2026-08-11T15:00:00Z', 8, 800, { lot_id: unpriced.lot_id ?? null }),
    ];
    expect(await query(lots, 'select outcome, lots, met_lots from reserve_gap', { prices })).toEqual([
      { outcome: 'not_sold', lots: 1, met_lots: 1 },
    ]);
  });
});

describe('buy_now_premium', () => {
  const boughtNow = (prices: readonly number[], rest: Given = {}) =>
    prices.flatMap((buy_now) => sold([buy_now], { buy_now, ...rest }));

  it('compares each Buy Now price with the auction prices of its model year at the same source', async () => {
    const lots = [
      ...sold([800, 900, 1000, 1100, 1200]),
      ...sold([4000, 4000, 4000, 4000, 4000], { domain_id: 1 }),
      ...boughtNow([1100, 1150, 1200]),
      ...boughtNow([4800, 4800], { domain_id: 1 }),
      ...sold([700, 700, 700, 700], { vehicle_id: 21 }),
      ...boughtNow([2100], { vehicle_id: 21 }),
    ];
    const found = await query(
      lots,
      `select level, model_name, year, offered_lots, buy_now_lots, auction_lots, buy_now_median, auction_median,
        compared_lots, round(premium_median, 6) as premium from buy_now_premium order by level, year`,
    );
    const counts = { offered_lots: 5, buy_now_lots: 5, auction_lots: 10, compared_lots: 5 };
    const named = { level: 'model_year', model_name: 'F-150' };
    const none = { buy_now_median: null, auction_median: null };
    expect(found).toEqual([
      {
        ...{ level: 'all', model_name: null, year: null, offered_lots: 6, buy_now_lots: 6, auction_lots: 14 },
        ...{ ...none, compared_lots: 5, premium: 0.2 },
      },
      { ...named, year: 2020, ...counts, buy_now_median: 1200, auction_median: 2600, premium: 0.2 },
      {
        ...{ ...named, year: 2021, offered_lots: 1, buy_now_lots: 1, auction_lots: 4, compared_lots: 0 },
        ...{ ...none, premium: null },
      },
    ]);
  });

  it('counts open and failed offers, but neither 0, nor absurd amounts, nor source 12', async () => {
    const offer = (buy_now: number | null, rest: Given = {}) =>
      lot({ lot_id: next++, vehicle_id: 20, buy_now, ...rest });
    const lots = [
      offer(1000),
      offer(5_000_000),
      offer(1000, { status_id: 8, sale_date: '2026-08-01T15:00:00Z', final_bid: 1000 }),
      offer(1000, { vehicle_id: 99 }),
      ...[0, -1, 5_000_001, null].map((amount) => offer(amount)),
      offer(1000, { domain_id: 12 }),
    ];
    expect(
      await query(
        lots,
        'select level, year, offered_lots, buy_now_lots, auction_lots from buy_now_premium order by level, year',
      ),
    ).toEqual([
      { level: 'all', year: null, offered_lots: 4, buy_now_lots: 0, auction_lots: 0 },
      { level: 'model_year', year: 2020, offered_lots: 3, buy_now_lots: 0, auction_lots: 0 },
      { level: 'model_year', year: null, offered_lots: 1, buy_now_lots: 0, auction_lots: 0 },
    ]);
  });
});

describe('repair_economics', () => {
  const repaired = (estimate_repair_price: number | null, prices: readonly number[], rest: Given = {}) =>
    sold(prices, { estimate_repair_price, pre_accident_price: 10_000, ...rest });

  it('compares price and repair estimate with the value before the accident', async () => {
    const lots = [
      ...repaired(2500, [5000, 6000, 7000, 7500, 9000]),
      ...repaired(2499, [5000], { status_id: 8 }),
      ...repaired(10_000, [1000]),
    ];
    const found = await query(
      lots,
      `select repair_band, lots, priced_lots, repair_median, pre_accident_median, price_median, price_share_median,
        total_share_median, margin_median, below_value_lots, below_value_share from repair_economics order by 1`,
    );
    const none = {
      ...{ repair_median: null, pre_accident_median: null, price_median: null, price_share_median: null },
      ...{ total_share_median: null, margin_median: null, below_value_lots: 0, below_value_share: null },
    };
    expect(found).toEqual([
      { repair_band: '0.00-0.25', lots: 1, priced_lots: 0, ...none },
      {
        ...{ repair_band: '0.25-0.50', lots: 5, priced_lots: 5, repair_median: 2500, price_median: 7000 },
        ...{ pre_accident_median: 10_000, price_share_median: 0.7, total_share_median: 0.95 },
        ...{ margin_median: 500, below_value_lots: 3, below_value_share: 0.6 },
      },
      { repair_band: '1.00+', lots: 1, priced_lots: 1, ...none },
    ]);
  });

  it('leaves out impossible estimates, and source 12', async () => {
    const lots = [
      ...repaired(-1, [1000]),
      ...repaired(null, [1000]),
      ...repaired(100, [1000], { pre_accident_price: 0 }),
      ...repaired(100, [1000], { pre_accident_price: 99_999_999_999 }),
      ...repaired(5_000_001, [1000]),
      ...repaired(100, [1000], { domain_id: 12 }),
      ...repaired(0, [1000]),
      ...repaired(5_000_000, [1000]),
    ];
    expect(await query(lots, 'select repair_band, lots from repair_economics order by 1')).toEqual([
      { repair_band: '0.00-0.25', lots: 1 },
      { repair_band: '1.00+', lots: 1 },
    ]);
  });
});
