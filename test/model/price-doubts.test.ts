import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { valuesOfLots } from '../../src/ask/query/valuation.js';
import { runDataTests } from '../../src/core/model/data-tests.js';
import { readModels } from '../../src/core/model/model-files.js';
import { apart, base, entry, lot, NOT_SOLD, ofYear, SOLD } from './cases.js';
import { computeMarts, type Given, openLake, openMarts, type TestLake, texts } from './support.js';

describe('the price of a sale is doubted', () => {
  const { ask } = openMarts('sales');
  /** The result of one lot's last attempt, after the entries of its price history. */
  const judged = async (...prices: readonly Given[]) =>
    (await ask({ lots: [lot()], prices }, 'select * from sales order by attempt desc limit 1'))[0];

  it('if it is one dollar, however it was paid', async () => {
    const sale = await judged(entry('2026-08-01T15:00:00Z', SOLD, 1, { buy_now_price: 1 }));
    expect(sale).toMatchObject({ amount: 1, price: null, is_trusted: true, outcome: 'sold' });
    expect(sale).toMatchObject({ is_outlier: true, outlier_reason: 'one_dollar', trust_basis: 'buy_now' });
  });

  it.each([
    [8_975, 897_500, 'hundred_times_entry'],
    [9_400, 897_500, 'hundred_times_entry'],
    [8_975, 9_800, null],
    [8_975, 250_000, null],
    [1, 100, null],
  ])('or some hundred times another amount: %d, then %d', async (before, amount, reason) => {
    const sale = await judged(
      entry('2026-07-01T15:00:00Z', NOT_SOLD, before),
      entry('2026-08-01T15:00:00Z', SOLD, amount),
    );
    expect(sale).toMatchObject({ amount, outlier_reason: reason, price: reason === null ? amount : null });
    const isCompared = reason === null && before > 1;
    expect(sale).toMatchObject({ amount_change: isCompared ? amount - before : null });
  });

  it('but not against a bid so far that never settled', async () => {
    const moved = entry('2026-08-01T15:00:00Z', 3, 80, { final_bid_updated_at: '2026-07-30T15:00:00Z' });
    const lots = [lot({ archived: true, last_seen_at: '2026-07-31T02:00:00Z' })];
    const sold = { recorded: '2026-08-02T16:00:00Z' };
    const prices = [
      moved,
      entry('2026-08-02T15:00:00Z', SOLD, 8_000, { final_bid_updated_at: sold.recorded }),
    ];
    const [sale] = await ask({ lots, prices }, 'select price, is_outlier from sales');
    expect(sale).toEqual({ price: 8_000, is_outlier: false });
  });
});

const LOTS = 1_200;
/** A draw from 0 to 1 for a lot. */
const draw = (i: number, salt: number): number => ((i * 7919 + salt * 104_729) % 10_007) / 10_007;

/** Whether a lot is among a share of the lots. */
const isAmong = (i: number, share: number): boolean => draw(i, 5) < share;
const lotsAmong = (share: number): number[] => [...Array(LOTS).keys()].filter((i) => isAmong(i, share));

/** Lots of four models, sold in two months with little noise; `amountOf` replaces the amounts of some. */
function marketOf(amountOf: (i: number, price: number) => number | null): Record<string, readonly Given[]> {
  const vehicles = [0, 1, 2, 3].map((model) => ({
    ...ofYear[0],
    ...{ vehicle_id: 10 + model, model_id: 50 + model, model_name: `Model ${model}` },
  }));
  const lots = Array.from({ length: LOTS }, (_, i) => {
    const price = Math.round(4_000 * 1.2 ** (i % 4) * Math.exp(0.3 * (draw(i, 1) + draw(i, 2) - 1)));
    const day = 1 + Math.floor(28 * draw(i, 3));
    return lot({
      ...{ lot_id: i + 1, lot: `L${i + 1}`, vehicle_id: 10 + (i % 4), domain_id: i % 8 < 4 ? 1 : 3 },
      ...{
        domain_name: i % 8 < 4 ? 'iaai_com' : 'copart_com',
        status_id: SOLD,
        final_bid: amountOf(i, price),
      },
      sale_date: `2026-0${7 + (Math.floor(i / 8) % 2)}-${String(day).padStart(2, '0')}T15:00:00Z`,
    });
  });
  return apart({ ...base, vehicles, lots });
}

describe('in a market with absurd prices', () => {
  let lake: TestLake;
  beforeAll(async () => {
    lake = await openLake();
  });
  afterAll(() => lake.close());

  /** Every mean, median and other quantile of an amount, by mart, column and key. */
  async function statistics(): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for (const { name, key, columns, exists, isSeed } of readModels()) {
      const shown = Object.keys(columns).filter((column) => /_(mean|median|p\d\d)(_3m)?$/.test(column));
      if (isSeed || exists === 'none' || shown.length === 0) continue;
      for (const row of await texts(lake, `select * from ${name}`))
        for (const column of shown)
          if (typeof row[column] === 'number' && row[column] !== 0)
            found.set([name, column, ...key.map((part) => row[part])].join(' '), row[column]);
    }
    return found;
  }

  /** Statistics of the market that move by more than 5 %, with what they were and are. */
  async function moved(amountOf: (i: number, price: number) => number | null) {
    await computeMarts(
      lake,
      marketOf((_, price) => price),
    );
    const before = await statistics();
    expect([...before.keys()].filter((name) => name.includes('price_mean')).length).toBeGreaterThan(10);
    await computeMarts(lake, marketOf(amountOf));
    const after = await statistics();
    const failed = (await runDataTests(lake.connection)).filter(({ failures }) => failures > 0);
    expect(failed).toEqual([]);
    return [...before].flatMap(([name, value]) => {
      const now = after.get(name) ?? Number.NaN;
      return Math.abs(now / value - 1) <= 0.05 ? [] : [`${name}: ${value}, then ${now}`];
    });
  }

  it('two zeros too many on 1 % move no mean and are no comparable', { timeout: 60_000 }, async () => {
    expect(await moved((i, price) => (isAmong(i, 0.01) ? 100 * price : price))).toEqual([]);
    const doubted = await texts(
      lake,
      `select outlier_reason, count(*) as lots, count(price) as prices, min(amount) > 100000 as is_absurd
      from sales where is_outlier group by all`,
    );
    expect(doubted).toEqual([
      { outlier_reason: 'ten_times_estimate', lots: lotsAmong(0.01).length, prices: 0, is_absurd: true },
    ]);
    const [alike] = await valuesOfLots(lake.connection, 'L12');
    const prices = alike?.comparable_sales.map(({ price }) => Number(price)) ?? [];
    expect(prices).toHaveLength(10);
    expect(Math.max(...prices)).toBeLessThan(30_000);
    const [absurd] = await valuesOfLots(lake.connection, `L${1 + Number(lotsAmong(0.01)[0])}`);
    expect(absurd).toMatchObject({ note: 'its price is doubted: ten times estimate' });
    expect(Number(absurd?.estimate)).toBeLessThan(30_000);
  });

  it('one dollar on 2 % moves no mean and no median', { timeout: 60_000 }, async () => {
    expect(await moved((i, price) => (isAmong(i, 0.02) ? 1 : price))).toEqual([]);
    expect(await alarms()).toEqual([]);
  });

  it('one dollar on 10 % raises an alarm for each source, whenever it came', {
    timeout: 60_000,
  }, async () => {
    await computeMarts(
      lake,
      marketOf((i, price) => (isAmong(i, 0.1) ? 1 : price)),
    );
    expect(await alarms()).toEqual(['copart_com (3)', 'iaai_com (1)']);
    const [pulled] = await texts(
      lake,
      'select count(*) as lots from price_inputs where price < 2 or price is null',
    );
    expect(pulled).toEqual({ lots: lotsAmong(0.1).length });
  });

  const alarms = async () => {
    const found = await texts(
      lake,
      `select subject from data_health where is_alarm and metric = 'outlier_share' order by 1`,
    );
    return found.map(({ subject }) => subject);
  };

  it('a first bid of 80 is no evidence against a price that is usual', { timeout: 60_000 }, async () => {
    const market = marketOf((_, price) => price);
    const prices = [entry('2026-06-01T15:00:00Z', NOT_SOLD, 80, { lot_id: 2 })];
    const lots = market.lots?.map((each) => (each.lot_id === 2 ? { ...each, final_bid: 8_000 } : each)) ?? [];
    await computeMarts(lake, { ...market, lots, prices }, 'sales');
    const sale = 'select price, is_outlier from sales where lot_id = 2 and is_trusted';
    expect(await texts(lake, sale)).toEqual([{ price: 8_000, is_outlier: false }]);
    const [input] = await texts(lake, 'select price from price_inputs where lot_id = 2');
    expect(input).toEqual({ price: null });
  });
});
