import { type DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import type { Coding } from './code-rows.js';
import { type Factor, REFERENCES } from './design.js';
import { effectVariance, expected, type Fit, uncertainty } from './fit.js';
import { around, distancesOf, isUsed, leverageOf, type State } from './passes.js';
import type { PricedRow } from './rows.js';

/** Number of factors that are listed with an estimate. */
export const DRIVERS = 5;

/** Estimates every lot as if its price were not known, and computes the index. */
export async function writeEstimates(
  connection: DuckDBConnection,
  { rows, factors, tree }: Coding,
  state: State,
  market: number,
): Promise<void> {
  const { fit, noise } = state;
  const [known, toCome] = [distancesOf(state, false), distancesOf(state)];
  const drivers = driversOf(fit, factors);
  const levels = indexLevels(factors, fit);
  const estimates = await openNumbers(connection, 'estimates', market);
  rows.each({}, (priced) => {
    const middle = expected(fit, priced);
    const variance = noise[priced.noise] ?? 1;
    const error = priced.logPrice - middle;
    const used = isUsed(error, variance);
    const unsure = uncertainty(fit, priced);
    const others = 1 - leverageOf(state, priced, unsure);
    const estimate = used ? priced.logPrice - error / others : middle;
    const spread = used ? variance / others : variance + unsure;
    const make = tree[tree[priced.model]?.parent ?? -1]?.parent ?? -1;
    estimates.append([
      priced.lot,
      ...around(estimate, Math.sqrt(spread), (Number.isNaN(error) ? toCome : known)[priced.noise]),
      used || Number.isNaN(error) ? 0 : 1,
      fit.nodes[make]?.weight ?? 0,
      ...drivers(priced),
    ]);
    if (used) levels.add(priced, error, variance);
  });
  estimates.close();
  await writeNumbers(connection, 'index', market, levels.rows());
}

/** Finds the factors that move an estimate furthest from the mean of all prices: their coefficients and effects. */
function driversOf(fit: Fit, factors: readonly Factor[]): (priced: PricedRow) => number[] {
  const places = factors.flatMap(({ levels }, i) => levels.map(() => i));
  const means = factors.map(({ offset, levels }) =>
    levels.reduce((sum, _, i) => sum + (fit.means[offset + i] ?? 0) * (fit.coefficients[offset + i] ?? 0), 0),
  );
  const effects = new Float64Array(factors.length);
  const touched = new Int32Array(factors.length);
  return (priced) => {
    for (let i = 0; i < effects.length; i += 1) {
      effects[i] = -(means[i] ?? 0);
      touched[i] = factors[i]?.offset ?? 0;
    }
    for (let i = 1; i < priced.count; i += 1) {
      const at = priced.index[i] ?? 0;
      const place = places[at - 1] ?? 0;
      touched[place] = at;
      effects[place] = (effects[place] ?? 0) + (priced.share[i] ?? 0) * (fit.coefficients[at] ?? 0);
    }
    return largest(effects, touched);
  };
}

/** The DRIVERS effects that are furthest from 0, each after its coefficient. Sets them to 0. */
function largest(effects: Float64Array, touched: Int32Array): number[] {
  const found: number[] = [];
  for (let driver = 0; driver < DRIVERS; driver += 1) {
    let best = 0;
    for (let i = 1; i < effects.length; i += 1)
      if (Math.abs(effects[i] ?? 0) > Math.abs(effects[best] ?? 0)) best = i;
    found.push(touched[best] ?? 0, effects[best] ?? 0);
    effects[best] = 0;
  }
  return found;
}

/** The level of prices by segment and month: the mean of prices without the effects of all factors but the month. */
function indexLevels(factors: readonly Factor[], { coefficients }: Fit) {
  const months = coefficients.subarray(factors.find(({ name }) => name === 'month')?.offset);
  /** Sums by a number that stands for a segment and month. */
  const sums = new Map<number, { place: number[]; weight: number; level: number; prices: number }>();
  return {
    add({ segments, month }: PricedRow, error: number, variance: number): void {
      const level = error + (months[month] ?? 0);
      // The segment -1 has all prices.
      for (let segment = -1; segment < segments.length; segment += 1) {
        const code = segments[segment] ?? 0;
        const key = (code * (segments.length + 1) + segment + 1) * months.length + month;
        let sum = sums.get(key);
        if (sum === undefined) {
          sum = { place: [segment, code, month], weight: 0, level: 0, prices: 0 };
          sums.set(key, sum);
        }
        sum.weight += 1 / variance;
        sum.level += level / variance;
        sum.prices += 1;
      }
    },
    rows: () =>
      [...sums.values()].map(({ place, weight, level, prices }) => [
        ...[...place, level / weight, Math.sqrt(1 / weight), prices],
      ]),
  };
}

/** Number in place of a coefficient for the price of a lot with the reference level of every factor. */
const BASE = -1;

/** Writes the effects of the levels of each factor, and of makes, models and generations. */
export async function writeEffects(
  connection: DuckDBConnection,
  { factors }: Coding,
  { fit, sums: { counts } }: State,
  market: number,
): Promise<void> {
  await writeNumbers(connection, 'effects', market, effectsOf(factors, fit, counts));
  const nodes = fit.nodes.flatMap((node, place) =>
    node.weight > 0 ? [[place, node.effect, Math.sqrt(effectVariance(fit, node))]] : [],
  );
  await writeNumbers(connection, 'nodes', market, nodes);
}

/** A row for each level of each factor, compared with the reference of its factor, and one for the base price. */
function* effectsOf(factors: readonly Factor[], { coefficients, covariance }: Fit, counts: Float64Array) {
  let base = coefficients[0] ?? 0;
  for (const factor of factors) {
    const reference = referenceOf(factor, counts);
    base += coefficients[reference] ?? 0;
    for (const [i, level] of factor.levels.entries()) {
      const at = factor.offset + i;
      const effect = (coefficients[at] ?? 0) - (coefficients[reference] ?? 0);
      const [own, other] = [covariance[at], covariance[reference]];
      const variance = (own?.[at] ?? 0) + (other?.[reference] ?? 0) - 2 * (own?.[reference] ?? 0);
      const deviation = Math.sqrt(Math.max(0, variance));
      yield [at, reference, factor.name, level, effect, deviation, counts[at] ?? 0];
    }
  }
  yield [BASE, BASE, 'base', 'all', base, Number.NaN, counts[0] ?? 0];
}

/** The reference coefficient of a factor: the one that REFERENCES names, or the one with the most prices. */
function referenceOf({ name, offset, levels }: Factor, counts: Float64Array): number {
  const named = levels.indexOf(REFERENCES[name] ?? '');
  if (named >= 0) return offset + named;
  const own = counts.subarray(offset, offset + levels.length);
  return offset + own.indexOf(Math.max(...own));
}

const CHUNK = 2048;

type Numbers = readonly (number | string)[];

/** Appends rows, after the number of their market, to a table of the database `fit`. NaN becomes null. */
export async function openNumbers(connection: DuckDBConnection, table: string, market: number) {
  const appender = await connection.createAppender(table, 'main', 'fit');
  const types = Array.from({ length: appender.columnCount }, (_, i) => appender.columnType(i));
  const held: (number | string | null)[][] = [];
  const flush = (): void => {
    const chunk = DuckDBDataChunk.create(types, held.length);
    chunk.setRows(held);
    appender.appendDataChunk(chunk);
    held.length = 0;
  };
  return {
    append: (row: Numbers): void => {
      held.push([market, ...row.map((value) => (Number.isNaN(value) ? null : value))]);
      if (held.length === CHUNK) flush();
    },
    /** Makes the rows visible to queries. */
    close: (): void => {
      flush();
      appender.closeSync();
    },
  };
}

/** Appends rows as `openNumbers` does, and makes them visible to queries. */
export async function writeNumbers(
  connection: DuckDBConnection,
  table: string,
  market: number,
  rows: Iterable<Numbers>,
): Promise<void> {
  const { append, close } = await openNumbers(connection, table, market);
  for (const row of rows) append(row);
  close();
}
