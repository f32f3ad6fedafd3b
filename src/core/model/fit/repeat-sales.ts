import type { DuckDBConnection } from '@duckdb/node-api';
import { CholeskyDecomposition, Matrix } from 'ml-matrix';
import { packageFile } from '../../../base/config/package-root.js';
import { rows } from '../../../base/duck/session.js';
import { writeNumbers } from '../append-numbers.js';
import type { Market } from './code-rows.js';

/** Fewest pairs of sales that an index needs. */
const FEWEST = 100;
/** Keeps a level near zero if no pair determines it; 1 / variance. */
const TINY = 1e-3;

/** A row of `sql/pricing/repeat_sales.sql`. */
type Pairs = Readonly<Record<'market' | 'from' | 'to' | 'pairs' | 'weight' | 'change' | 'square', number>>;

/**
 * The price level by month from vehicles that were sold twice: the regression of Bailey, Muth and Nourse. All effects of
 * the fit except the month are subtracted from both sales, so that age and damage do not change the level.
 */
export async function repeatSales(connection: DuckDBConnection, markets: readonly Market[]): Promise<void> {
  const found = await rows(connection, packageFile('sql/pricing/repeat_sales.sql'));
  for (const { number } of markets) {
    const pairs = (found as readonly Pairs[]).filter(({ market }) => market === number);
    if (pairs.reduce((sum, each) => sum + each.pairs, 0) < FEWEST) continue;
    await writeNumbers(connection, 'fit.repeat', number, levelsOf(pairs));
  }
}

/** Month, log level against the mean of all months, standard deviation and number of sales. */
function levelsOf(pairs: readonly Pairs[]): number[][] {
  const months = 1 + Math.max(...pairs.map(({ to }) => to));
  const system = Matrix.eye(months).mul(TINY);
  const right = Matrix.zeros(months, 1);
  const sales = Array<number>(months).fill(0);
  const add = (row: number, column: number, value: number): Matrix =>
    system.set(row, column, system.get(row, column) + value);
  for (const { from, to, pairs: count, weight, change } of pairs) {
    add(from, from, weight);
    add(to, to, weight);
    add(from, to, -weight);
    add(to, from, -weight);
    right.set(from, 0, right.get(from, 0) - change);
    right.set(to, 0, right.get(to, 0) + change);
    sales[from] = (sales[from] ?? 0) + count;
    sales[to] = (sales[to] ?? 0) + count;
  }
  const covariance = new CholeskyDecomposition(system).solve(Matrix.eye(months));
  const levels = covariance.mmul(right).to1DArray();
  const noise = noiseOf(pairs, levels);
  const total = sales.reduce((sum, count) => sum + count, 0);
  // The level against the mean, as weights of the levels: the mean has no error of its own.
  const center = Matrix.eye(months).sub(
    Matrix.rowVector(sales.map((count) => count / total)).repeat({ rows: months }),
  );
  const spread = center.mmul(covariance).mmul(center.transpose()).diagonal();
  const mean = levels.reduce((sum, level, month) => sum + (level * (sales[month] ?? 0)) / total, 0);
  return sales.flatMap((count, month) =>
    count === 0 ? [] : [[month, (levels[month] ?? 0) - mean, Math.sqrt(noise * (spread[month] ?? 0)), count]],
  );
}

/** The variance of the changes, as a multiple of the variance that the estimates of both sales predict. */
function noiseOf(pairs: readonly Pairs[], levels: readonly number[]): number {
  const [left, count] = pairs.reduce(
    ([sum, n], { from, to, weight, change, square, pairs: own }) => {
      const level = (levels[to] ?? 0) - (levels[from] ?? 0);
      return [sum + square - 2 * level * change + level ** 2 * weight, n + own];
    },
    [0, 0],
  );
  return left / Math.max(1, count - levels.length);
}
