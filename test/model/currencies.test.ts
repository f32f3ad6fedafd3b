import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../../src/base/duck/session.js';
import { runDataTests } from '../../src/core/model/data-tests.js';
import { readLayer, readModels, withOwnSeeds } from '../../src/core/model/model-files.js';
import { apart, base, lot, SOLD } from './cases.js';
import { listing, report } from './report-cases.js';
import {
  computeMarts,
  computeModels,
  fill,
  type Given,
  modelsOf,
  openLake,
  type TestLake,
  testsOf,
  texts,
} from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const ford = { manufacturer_id: 5, manufacturer_name: 'Ford', model_id: 50, model_name: 'F-150', year: 2020 };
const vehicles = [{ vehicle_id: 10, ...ford }];
const country = (location_country_iso: string | null): Given => ({ location_country_iso });

let next = 1;
/** Lots that differ only in price and currency, with all amounts that a lot can have. */
const sold = (prices: readonly number[], rest: Given): Given[] =>
  prices.map((final_bid) =>
    lot({
      lot_id: next++,
      sale_date: '2026-08-01T15:00:00Z',
      status_id: SOLD,
      final_bid,
      seller_reserve_price: final_bid,
      estimate_repair_price: final_bid / 2,
      pre_accident_price: final_bid * 2,
      odometer_km: 10_000,
      damage_main_name: 'None',
      ...rest,
    }),
  );

const american = () => sold([1000, 1010, 1020, 1030, 1040, 1050], country(' us'));
const canadian = () => sold([5000, 5010, 5020, 5030, 5040, 5050], country('CA '));

/** Marts that group by the facts of a lot, with their statistics of amounts. */
const AMOUNTS = {
  price_trends: [
    'price_mean',
    'price_median',
    'price_p10',
    'price_p25',
    'price_p75',
    'price_p90',
    'price_median_3m',
  ],
  damage_breakdown: ['price_median', 'price_ratio_to_sound', 'repair_share'],
  lot_breakdown: ['price_median'],
  odometer_curve: ['price_median', 'price_ratio_median'],
  reserve_gap: ['reserve_median', 'amount_median', 'gap_median', 'gap_share_median'],
  repair_economics: [
    'repair_median',
    'pre_accident_median',
    'price_median',
    'margin_median',
    'total_share_median',
  ],
  buy_now_premium: ['auction_median'],
} as const;
const MARTS = Object.keys(AMOUNTS) as (keyof typeof AMOUNTS)[];

async function compute(lots: readonly Given[], ...marts: readonly string[]): Promise<void> {
  await computeMarts(lake, apart({ ...base, vehicles, lots }), ...marts);
  await test(...marts);
}

/** Computes the marts of the same lots again, with rules of the user. */
async function recompute(rules: readonly string[], ...marts: readonly string[]): Promise<void> {
  const seeds = join(lake.folder, 'seeds');
  mkdirSync(seeds, { recursive: true });
  writeFileSync(join(seeds, 'currency_rules.csv'), [HEADER, ...rules, ''].join('\n'));
  const models = withOwnSeeds(modelsOf(marts), seeds);
  await computeModels(lake, models);
  await test(...marts);
}

const HEADER = 'domain_id,country_iso,currency,certainty,reason';

/** Expects the data tests of marts to pass. */
async function test(...marts: readonly string[]): Promise<void> {
  const results = await runDataTests(lake.connection, testsOf(...marts));
  const failed = results.filter(({ severity, failures }) => severity === 'error' && failures > 0);
  expect(failed.map(({ model, test: name, sample }) => ({ model, name, sample }))).toEqual([]);
}

/** The rows of each mart by currency, only at the most detailed level and of one subject. */
async function groups(): Promise<Map<string, Row[]>> {
  const found = new Map<string, Row[]>();
  for (const mart of MARTS) {
    const rows = await texts(lake, `select * from ${mart} order by currency`);
    found.set(
      mart,
      rows.filter(
        ({ level, subject }) =>
          !(mart === 'price_trends' ? /^(all|source|make|model)$/ : /^(all|source|make)$/).test(
            String(level),
          ) && subject !== 'seller_type',
      ),
    );
  }
  return found;
}

it('every mart with a currency in its key is tested here', () => {
  // Marts with a market in their key come from the fit; test/model/pricing tests them.
  // A model of the run alone is tested by what reads it.
  const all = [...readModels(), ...readLayer('examples')].filter(({ exists }) => exists !== 'none');
  const grouped = all.filter(({ key }) => key.includes('currency') && !key.includes('market'));
  const elsewhere = ['accident_discount', 'regional_prices'];
  expect(grouped.map(({ name }) => name).sort()).toEqual([...MARTS, ...elsewhere].sort());
});

describe('amounts of two kinds', () => {
  let alone: Map<string, Row[]>;
  let together: Map<string, Row[]>;
  const lots = [...american(), ...canadian()];
  const COUNTS = /^(lots|priced_lots|lots_sold|lots_offered|sold|auction_lots|met_lots|share)$/;
  const countsOf = (row: Row | undefined) => Object.entries(row ?? {}).filter(([name]) => COUNTS.test(name));
  beforeAll(async () => {
    await compute(american(), ...MARTS);
    alone = await groups();
    await compute(lots, ...MARTS);
    together = await groups();
  });

  it.each(MARTS)('are counted by %s but are in no statistic if their currency is unknown', (mart) => {
    const [known, unknown, ...others] = together.get(mart) ?? [];
    expect(others).toEqual([]);
    expect(known).toEqual({ ...alone.get(mart)?.[0], currency: 'USD' });
    const statistics = AMOUNTS[mart].map((column) => [column, null]);
    expect(unknown).toMatchObject({ currency: null, ...Object.fromEntries(statistics) });
    expect(countsOf(known).length).toBeGreaterThan(0);
    expect(countsOf(unknown)).toEqual(countsOf(known));
  });

  it('are kept apart if a seed of the user gives both currencies', async () => {
    await recompute(['3,US,USD,assumed,by place', '3,CA,CAD,stated,"by the contract, in writing"'], ...MARTS);
    const apart = await groups();
    for (const mart of MARTS) {
      const [canadians, americans, ...others] = apart.get(mart) ?? [];
      expect(others, mart).toEqual([]);
      expect(americans, mart).toEqual(together.get(mart)?.[0]);
      expect(canadians, mart).toMatchObject({ currency: 'CAD', ...Object.fromEntries(countsOf(americans)) });
      const [amount] = AMOUNTS[mart];
      expect(Number(canadians?.[amount]), mart).toBeGreaterThan(2 * Number(americans?.[amount]));
    }
    expect(
      await texts(lake, 'select currency, certainty, reason, lots from currencies where lots > 0 order by 1'),
    ).toEqual([
      { currency: 'CAD', certainty: 'stated', reason: 'by the contract, in writing', lots: 6 },
      { currency: 'USD', certainty: 'assumed', reason: 'by place', lots: 6 },
    ]);
  });
});

describe('an amount of unknown currency', () => {
  it('keeps its attempt and its price, which is not compared with others', async () => {
    await compute([...american(), ...canadian(), ...sold([700], country(null))], 'odometer_curve');
    expect(await texts(lake, 'select currency, count(price) as n from sales group by 1 order by 1')).toEqual([
      { currency: 'USD', n: 6 },
      { currency: null, n: 7 },
    ]);
    const compared =
      "select currency, priced_lots, compared_lots from odometer_curve where level = 'all' order by 1";
    expect(await texts(lake, compared)).toEqual([
      { currency: 'USD', priced_lots: 6, compared_lots: 6 },
      { currency: null, priced_lots: 7, compared_lots: 0 },
    ]);
  });

  it('is in no statistic of places, first attempts or cars with reports', async () => {
    const lots = [
      ...american(),
      ...canadian(),
      ...sold([2, 3, 4, 5, 6], country(null)),
      lot({ lot_id: 900, domain_id: 12, buy_now: 7000, lot: 'a' }),
    ].map((row): Given => ({ lot: `n-${row.lot_id}`, ...row }));
    const inspections = lots.map((row) =>
      report({
        ...listing,
        domain_id: row.domain_id ?? 3,
        listing_id: row.lot ?? '',
        vehicle_id: 10,
        report_id: `r-${row.lot_id}`,
      }),
    );
    await fill(lake.connection, 'inspections', inspections);
    await compute(lots, 'regional_prices', 'accident_discount', 'sell_through');
    const places =
      "select country_iso, currency, priced_lots, price_median, compared_lots from regional_prices where level = 'state' order by 1 nulls last";
    expect(await texts(lake, places)).toEqual([
      { country_iso: 'CA', currency: null, priced_lots: 6, price_median: null, compared_lots: 0 },
      { country_iso: 'US', currency: 'USD', priced_lots: 6, price_median: 1025, compared_lots: 6 },
      { country_iso: null, currency: null, priced_lots: 5, price_median: null, compared_lots: 0 },
    ]);
    const reported =
      'select price_kind, currency, priced_lots, price_median from accident_discount order by all';
    expect(await texts(lake, reported)).toEqual([
      { price_kind: 'asking', currency: 'USD', priced_lots: 1, price_median: null },
      { price_kind: 'sale', currency: 'USD', priced_lots: 6, price_median: 1025 },
      { price_kind: 'sale', currency: null, priced_lots: 11, price_median: null },
    ]);
    expect(
      await texts(lake, "select lots_sold, compared_lots from sell_through where level = 'attempt'"),
    ).toEqual([{ lots_sold: 17, compared_lots: 6 }]);
    await fill(lake.connection, 'inspections', []);
  });
});

describe('pairs and records of the feed', () => {
  it('compare asking prices and statistics only in one known currency', async () => {
    const asking = (number: number, buy_now: number, rest: Given): Given =>
      lot({ lot_id: 500 + number, lot: String(number), domain_id: 12, buy_now, ...rest });
    await fill(lake.connection, 'duplicates', [
      { duplicate_id: 1, original_id: 2 },
      { duplicate_id: 3, original_id: 4 },
    ]);
    const record = { domain_id: 3, manufacturer_id: 5, car_model_id: 50, year: 2020, avg_final_bid: 1000 };
    const listings = [asking(1, 700, country('KR')), asking(2, 800, country(null)), asking(3, 900, {})];
    const lots = [...american(), ...canadian(), ...listings];
    const given = { ...base, vehicles, lots, statistics: [{ statistic_id: 1, ...record }] };
    await computeMarts(lake, apart(given), 'duplicate_lots', 'statistics_compared');
    await test('duplicate_lots', 'statistics_compared');
    const pairs = 'select currency, duplicate_asking, root_asking from duplicate_lots order by duplicate_id';
    expect(await texts(lake, pairs)).toEqual([
      { currency: 'USD', duplicate_asking: 700, root_asking: 800 },
      { currency: 'USD', duplicate_asking: 900, root_asking: null },
    ]);
    const records = 'select currency, lots, price_avg, price_max, avg_difference from statistics_compared';
    expect(await texts(lake, records)).toEqual([
      { currency: 'USD', lots: 6, price_avg: 1025, price_max: 1050, avg_difference: 25 },
    ]);
    const rules = ['3,US,USD,assumed,a', '3,CA,CAD,assumed,b', '12,KR,KRW,assumed,c', '12,*,USD,assumed,d'];
    await recompute(rules, 'duplicate_lots', 'statistics_compared');
    expect(await texts(lake, pairs)).toEqual([
      { currency: null, duplicate_asking: null, root_asking: null },
      { currency: 'USD', duplicate_asking: 900, root_asking: null },
    ]);
    expect(await texts(lake, records)).toEqual([
      { currency: null, lots: 0, price_avg: null, price_max: null, avg_difference: null },
    ]);
  });
});
