import type { DuckDBConnection } from '@duckdb/node-api';
import { CholeskyDecomposition, Matrix } from 'ml-matrix';
import { rows } from '../../duck/session.js';
import { Numbers } from './numbers.js';

/** Fewest pairs of sales from which there is an index. */
const FEWEST = 100;
/** Keeps the level that no pair decides near zero; 1 / variance. */
const TINY = 1e-3;

/**
 * Pairs of sales of one vehicle, one after the other, by their months; `change` and `square` are weighted sums of the
 * changes of the log price beyond what age, damage and the like explain, and of their squares.
 */
type Pairs = Readonly<Record<'from' | 'to' | 'pairs' | 'weight' | 'change' | 'square', number>>;

/**
 * The price level by month from vehicles that were sold twice: the regression of Bailey, Muth and Nourse. What the fit
 * knows of both sales but their month is taken off, so that age and damage are not taken for the level.
 */
export async function repeatSales(connection: DuckDBConnection, market: number): Promise<void> {
  const found = await rows(
    connection,
    `with sold_again as (
      select vehicle_id from price_inputs where price is not null group by vehicle_id having count(*) > 1),
    inputs as materialized (
      select * from price_inputs semi join sold_again using (vehicle_id) where price is not null),
    sales as (
      select i.vehicle_id, i.priced_at, i.lot_id,
        date_diff('month', m.first_month, greatest(i.priced_month, m.first_month)) as month,
        ln(i.price) - e.log_estimate + f.log_effect as level, (ln(e.high_80 / e.low_80) / 2.563) ** 2 as variance
      from inputs i
        join fit.markets m on m.market = i.market and m.currency = i.currency
        join fit.estimates e on e.market = m.number and e.lot = i.lot_id
        join fit.effects f on f.market = m.number and f.factor = 'month'
          and f.level = strftime(greatest(i.priced_month, m.first_month), '%Y-%m')
      where m.number = ${market} and e.is_left_out = 0),
    pairs as (
      select month as later, lag(month) over by_date as earlier, level - lag(level) over by_date as change,
        variance + lag(variance) over by_date as variance
      from sales window by_date as (partition by vehicle_id order by priced_at, lot_id))
    select earlier as "from", later as "to", count(*) as pairs, sum(1 / variance) as weight,
      sum(change / variance) as change, sum(change ** 2 / variance) as square
    from pairs where earlier < later group by 1, 2 order by 1, 2`,
  );
  const pairs = found as readonly Pairs[];
  if (pairs.reduce((sum, each) => sum + each.pairs, 0) < FEWEST) return;
  const repeat = await Numbers.open(connection, 'repeat', market);
  for (const level of levelsOf(pairs)) repeat.append(level);
  repeat.close();
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

/** The variance that the changes have, as a multiple of what the estimates of both sales let expect. */
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
