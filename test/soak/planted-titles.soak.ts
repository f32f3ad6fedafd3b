import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { titles } from '../../src/sandbox/data/market.js';
import { attempts } from '../model/world/marts/sales.js';
import { type MartRow, type WorldNight, worldNight } from '../model/world/night.js';
import { ratiosToOthers } from '../model/world/ratios.js';

/** Vehicles of the world. At 6,000, the rarer titles have too few lots to compare. */
const vehicles = Math.max(6000, Number(process.env.LOTLAKE_WORLD ?? 20_000));

const factors = [...new Set(titles.map(({ factor }) => factor))];
/** Names of the titles that have a planted factor. */
const namesWith = (planted: number): string[] =>
  titles.filter(({ factor }) => factor === planted).map(({ name }) => name.trim());

/**
 * The price level of lots with these titles relative to their model year: the mean of logarithms over sources and
 * titles.
 */
interface Level {
  readonly lots: number;
  readonly log: number;
  /** Standard error of `log`. */
  readonly error: number;
}

/** About half a minute. */
describe(`the titles of a world of ${vehicles} vehicles`, () => {
  let night: WorldNight;
  let rows: readonly MartRow[];
  beforeAll(async () => {
    night = await worldNight(vehicles, 5);
    rows = await night.rows('title_breakdown');
  });
  afterAll(() => night.close());

  const levelOf = (names: readonly string[]): Level => {
    const known = rows.filter(
      (row) => names.includes(String(row.title_name)) && row.price_ratio_median !== null,
    );
    const lots = sum(known.map((row) => Number(row.compared_lots)));
    const log = sum(known.map((row) => Number(row.compared_lots) * Math.log(Number(row.price_ratio_median))));
    return { lots, log: log / lots, error: (MEDIAN_ERROR * spreadOf(names)) / Math.sqrt(lots) };
  };
  const spreadOf = (names: readonly string[]): number => {
    const sold = attempts(night).filter(({ outcome }) => outcome === 'sold');
    const ofKind = sold.filter(({ lot }) =>
      names.includes(night.lots.get(lot.id)?.raw.title?.name?.trim() ?? ''),
    );
    return deviation(ratiosToOthers(night, sold)(ofKind).map(Math.log));
  };

  it('have the planted factors against clean ones, within the sampling error', () => {
    const clean = levelOf(namesWith(1));
    for (const factor of factors.filter((planted) => planted < 1)) {
      const names = namesWith(factor);
      const level = levelOf(names);
      if (level.lots === 0) continue;
      const error = Math.hypot(level.error, clean.error);
      const found = level.log - clean.log;
      const text = `${names.join(', ')}: ${Math.exp(found).toFixed(3)}, planted ${factor}, ${level.lots} lots, ±${(100 * error).toFixed(1)} %`;
      process.stdout.write(`${text}\n`);
      expect(Math.abs(found - Math.log(factor)), text).toBeLessThan(3 * error);
    }
  });

  it('separate salvage from clean by far more than the sampling error', () => {
    const [salvage, clean] = [levelOf(namesWith(0.6)), levelOf(namesWith(1))];
    expect((clean.log - salvage.log) / Math.hypot(clean.error, salvage.error)).toBeGreaterThan(5);
  });
});

/** Standard error of a median divided by that of a mean, for normal values. */
const MEDIAN_ERROR = Math.sqrt(Math.PI / 2);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function deviation(values: readonly number[]): number {
  const mean = sum(values) / values.length;
  return Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / (values.length - 1));
}
