import { expect, it } from 'vitest';
import { fitted, lotsOf } from './market.js';

const LOTS = lotsOf({ lots: 1_500, months: 14 });
const runs = [{ run_id: 'r', started_at: '2025-02-10T00:00:00Z', minimum_group: 5 }];

it('judges each sale by the last estimate that was given before it, and by the back-test where those are too few', async () => {
  const first = await fitted(LOTS, { runs });
  const sales = await first.rows(
    `select lot_id, domain_id, price, manufacturer_id, strftime(priced_at - interval 1 day, '%Y-%m-%d') as before,
      strftime(priced_at - interval 30 day, '%Y-%m-%d') as long_before, strftime(priced_at + interval 1 day, '%Y-%m-%d') as after
     from price_inputs where price is not null and priced_at > timestamptz '2024-09-15'`,
  );
  first.close();
  const given = sales.flatMap(({ lot_id, domain_id, price, before, long_before, after }, i) => {
    const lot = { lot_id: Number(lot_id), domain_id: Number(domain_id), market: 'auction' };
    const estimated = (at: unknown, factor: number, currency = 'USD') => {
      const amount = Number(price);
      const ends = {
        low_80: 0.7 * amount,
        low_50: 1.1 * amount,
        high_50: 1.2 * amount,
        high_80: 1.3 * amount,
      };
      return { ...lot, given_at: `${at}T00:00:00Z`, currency, estimate: factor * amount, ...ends };
    };
    const others = [estimated(long_before, 9), estimated(after, 1), estimated(before, 5, 'EUR')];
    return [estimated(before, 1.25), ...others.slice(i % 4, (i % 4) + 1)];
  });
  const market = await fitted(LOTS, { runs, given_estimates: given });
  const accuracy = await market.rows(`select * from price_accuracy`);
  market.close();
  expect(sales.length).toBeGreaterThan(300);
  const all = accuracy.find(({ segment }) => segment === 'all');
  expect(all).toMatchObject({ basis: 'given', inside_80: 1, inside_50: 0 });
  expect(Number(all?.prices)).toBe(sales.length);
  expect(Number(all?.error_median)).toBeCloseTo(0.25, 9);
  expect(Number(all?.bias)).toBeCloseTo(0.25, 9);
  const makes = accuracy.filter(({ segment }) => segment === 'manufacturer');
  expect(makes.map(({ basis }) => basis)).toEqual(makes.map(() => 'backtest'));
  expect(makes.length).toBe(12);
});

it('judges auctions alone, as the estimates are of the auction', async () => {
  const market = await fitted(
    `select * replace (if(lot_id % 3 = 0, 'buy_now', sold_by) as sold_by) from (${LOTS})`,
    { runs },
  );
  const [all] = await market.rows(`select prices from price_accuracy where segment = 'all'`);
  const [judged] = await market.rows(
    `select count(*) as all_prices, count(*) filter (sold_by = 'auction') as auctions
    from price_inputs where price is not null and priced_at >= timestamptz '2024-09-01'`,
  );
  market.close();
  expect(Number(judged?.auctions)).toBeGreaterThan(300);
  expect(Number(judged?.all_prices)).toBeGreaterThan(Number(judged?.auctions));
  expect(Number(all?.prices)).toBe(Number(judged?.auctions));
});
