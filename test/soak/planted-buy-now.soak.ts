import { expect, it } from 'vitest';
import { createWorld, market } from '../../src/sandbox/index.js';
import { texts } from '../model/support.js';
import { groupBy, median } from '../model/world/statistics.js';
import { mean, modelYearOf, type PlantedSale, plantedLake, plantedSales } from './planted-lake.js';

/** About 20 seconds. */
it('buy_now_premium finds the planted markup', async () => {
  const world = createWorld({ vehicles: 200_000 });
  const sales = plantedSales(world);
  const lake = await plantedLake(world, sales, 5, 'buy_now_premium');
  try {
    const [all] = await texts(
      lake,
      "select buy_now_lots, compared_lots, premium_median from buy_now_premium where level = 'all'",
    );
    const boughtNow = sales.filter(({ isBoughtNow }) => isBoughtNow);
    expect(all?.buy_now_lots).toBe(boughtNow.length);
    // The markup is on the value when the lot appeared. By the sale, the car is older and the market has moved.
    const planted =
      (median(
        boughtNow.map(({ price, expected }) => price / expected),
        1,
      ) ?? Number.NaN) - 1;
    expect(planted).toBeGreaterThan(market.buyNowMarkup - 1);
    const found = Number(all?.premium_median);
    const lots = Number(all?.compared_lots);
    // Standard error of the median of that many values, with the spread of prices inside a model year.
    const error = ((1 + planted) * 1.253 * spreadOf(sales)) / Math.sqrt(lots);
    const summary = `${found.toFixed(3)} of ${lots} sales, planted ${planted.toFixed(3)}, error ${error.toFixed(3)}`;
    process.stdout.write(`${summary}\n`);
    expect(error).toBeLessThan(0.02);
    expect(Math.abs(found - planted), summary).toBeLessThan(3 * error);
  } finally {
    lake.close();
  }
});

/** Standard deviation of the logarithm of prices inside model years with 5 sales or more. */
function spreadOf(sales: readonly PlantedSale[]): number {
  const groups = [...groupBy(sales, modelYearOf).values()].filter(({ length }) => length >= 5);
  const squares = groups.flatMap((group) => {
    const logs = group.map(({ price }) => Math.log(price));
    const middle = mean(logs);
    return logs.map((log) => ((log - middle) ** 2 * group.length) / (group.length - 1));
  });
  return Math.sqrt(mean(squares));
}
