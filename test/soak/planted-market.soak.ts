import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../../src/base/duck/session.js';
import { damages } from '../../src/sandbox/data/market.js';
import { createWorld, market, marketFactor } from '../../src/sandbox/index.js';
import { type TestLake, texts } from '../model/support.js';
import { groupBy } from '../model/world/statistics.js';
import { mean, plantedLake, plantedSales } from './planted-lake.js';

/** Standard deviation of the logarithm of prices of one model: damage, title, age, mileage and noise together. */
const SPREAD = 0.55;

/** Standard error of a median divided by that of a mean, for a normal distribution. */
const MEDIAN_ERROR = 1.2533;

/** About half a minute. */
describe('the market of a world of 200,000 vehicles', () => {
  let lake: TestLake;
  beforeAll(async () => {
    const world = createWorld({ vehicles: 200_000 });
    lake = await plantedLake(world, plantedSales(world), 5, 'price_trends', 'damage_breakdown');
  }, 300_000);
  afterAll(() => lake.close());

  it('shows the planted discount of each damage in damage_breakdown', async () => {
    const rows = await texts(
      lake,
      `select damage_main, priced_lots, price_ratio_to_sound from damage_breakdown
       where level = 'model' and price_ratio_to_sound is not null and priced_lots >= 5`,
    );
    const found = groupBy(rows, ({ damage_main }) => String(damage_main));
    let seen = 0;
    for (const { name, factor } of damages.filter((damage) => damage.factor < 1)) {
      const groups = found.get(name) ?? [];
      const weights = groups.map(({ priced_lots }) => Number(priced_lots));
      const lots = weights.reduce((sum, weight) => sum + weight, 0);
      if (lots < 300) continue;
      seen += 1;
      const log = mean(
        groups.map((row) => Math.log(Number(row.price_ratio_to_sound))),
        weights,
      );
      // The sound lots of a model are as uncertain as the damaged lots.
      const error = (1.5 * MEDIAN_ERROR * SPREAD) / Math.sqrt(lots);
      const text = `${name}: ${Math.exp(log).toFixed(3)}, planted ${factor}, ${lots} lots, ±${(100 * error).toFixed(1)} %`;
      process.stdout.write(`${text}\n`);
      expect(Math.abs(log - Math.log(factor)), text).toBeLessThan(3 * error);
    }
    expect(seen).toBeGreaterThan(5);
  });

  it('shows the planted trend and season, and that cars grow older, in price_trends', async () => {
    const rows = await texts(
      lake,
      `select cast(sale_month as varchar) as month, domain_id, model_id, priced_lots, price_median from price_trends
       where level = 'generation' and price_median is not null`,
    );
    const { slope, error } = slopeOf(rows);
    const text = `${slope.toFixed(2)} of the planted change from month to month, error ${error.toFixed(2)}`;
    process.stdout.write(`${text}\n`);
    expect(error).toBeLessThan(0.3);
    expect(Math.abs(slope - 1), text).toBeLessThan(3 * error);
  });
});

/** Logarithm of the planted level of a month: the market, and the age that the same model years have gained. */
function levelOf(month: string): number {
  const at = Date.parse(`${month.slice(0, 7)}-15`);
  return Math.log(marketFactor(at)) - (market.lossPerYear * at) / (365.25 * 86_400_000);
}

/** Share of the planted change between the months of a model that is found, with its standard error. */
function slopeOf(rows: readonly Row[]): { readonly slope: number; readonly error: number } {
  const models = groupBy(rows, ({ domain_id, model_id }) => `${domain_id} ${model_id}`);
  const centred = [...models.values()].flatMap((months) => {
    const weights = months.map(({ priced_lots }) => Number(priced_lots));
    const planted = months.map(({ month }) => levelOf(String(month)));
    const found = months.map(({ price_median }) => Math.log(Number(price_median)));
    const [plantedMean, foundMean] = [mean(planted, weights), mean(found, weights)];
    return months.map((_, place) => ({
      weight: weights[place] ?? 0,
      planted: (planted[place] ?? 0) - plantedMean,
      found: (found[place] ?? 0) - foundMean,
    }));
  });
  const sum = (read: (row: (typeof centred)[number]) => number): number =>
    centred.reduce((total, row) => total + row.weight * read(row), 0);
  const spread = sum(({ planted }) => planted ** 2);
  const slope = sum(({ planted, found }) => planted * found) / spread;
  const rest = sum(({ planted, found }) => (found - slope * planted) ** 2);
  return { slope, error: Math.sqrt(rest / (centred.length - models.size - 1) / spread) };
}
