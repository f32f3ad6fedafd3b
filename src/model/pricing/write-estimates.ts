import type { DuckDBConnection } from '@duckdb/node-api';
import { literal } from '../../duck/session.js';
import type { Coding } from './code-rows.js';
import { type Factor, SEGMENTS } from './design.js';
import { expected, type Fit, uncertainty } from './fit.js';
import type { Numbers } from './numbers.js';
import { around, distancesOf, isUsed, leverageOf, type State } from './passes.js';
import type { PricedRow } from './rows.js';

/** Factors that are named with an estimate. */
export const DRIVERS = 5;

/** Estimates every lot, one with a price as if its price were not known, and adds up the index. */
export async function writeEstimates(
  connection: DuckDBConnection,
  { rows, factors, tree }: Coding,
  state: State,
  estimates: Numbers,
  index: Numbers,
  market: number,
): Promise<void> {
  const { fit, noise } = state;
  if (fit === undefined) return;
  const [known, toCome] = [distancesOf(state, false), distancesOf(state)];
  const drivers = driversOf(fit, factors);
  const levels = new IndexLevels(factors, fit);
  rows.each({}, (priced) => {
    const middle = expected(fit, priced);
    const variance = noise[priced.noise] ?? 1;
    const error = priced.logPrice - middle;
    const used = isUsed(error, variance);
    const unsure = uncertainty(fit, priced);
    const others = 1 - leverageOf(state, priced, unsure);
    const estimate = used ? priced.logPrice - error / others : middle;
    const spread = used ? variance / others : variance + unsure;
    const make = tree.parents[tree.parents[priced.model] ?? -1] ?? -1;
    estimates.append([
      ...[
        market,
        priced.lot,
        ...around(estimate, Math.sqrt(spread), (Number.isNaN(error) ? toCome : known)[priced.noise]),
      ],
      ...[used || Number.isNaN(error) ? 0 : 1, fit.nodes[make]?.weight ?? 0, ...drivers(priced)],
    ]);
    if (used) levels.add(priced, error, variance);
  });
  levels.write(index, market);
  const names = SEGMENTS.map(literal).join(', ');
  await connection.run(`insert into fit.segments
    select ${market}, factor, list_position([${names}], factor) - 1, code, level from fit.levels where factor in (${names})`);
}

/** Tells the coefficients and effects of the factors that move an estimate most, against the mean of all prices. */
function driversOf(fit: Fit, factors: readonly Factor[]): (priced: PricedRow) => number[] {
  const places = factors.flatMap(({ size }, i) => Array<number>(size).fill(i));
  const means = factors.map(({ offset, size }) =>
    Array.from({ length: size }, (_, i) => offset + i).reduce(
      (sum, at) => sum + (fit.means[at] ?? 0) * (fit.coefficients[at] ?? 0),
      0,
    ),
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

/** The DRIVERS effects that are furthest from 0, each behind its coefficient; leaves 0 in their place. */
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

/** The level of prices by segment and month: what is left of them without all factors but the month. */
class IndexLevels {
  /** Sums of a segment and month, by a number of both. */
  readonly #sums = new Map<number, { place: number[]; weight: number; level: number; prices: number }>();
  readonly #months: Float64Array;

  constructor(factors: readonly Factor[], fit: Fit) {
    const month = factors.find(({ name }) => name === 'month');
    this.#months = fit.coefficients.subarray(month?.offset);
  }

  add({ segments, month }: PricedRow, error: number, variance: number): void {
    const level = error + (this.#months[month] ?? 0);
    // -1 is the segment of all
    for (let segment = -1; segment < segments.length; segment += 1) {
      const code = segments[segment] ?? 0;
      const key = (code * (segments.length + 1) + segment + 1) * this.#months.length + month;
      let sum = this.#sums.get(key);
      if (sum === undefined) {
        sum = { place: [segment, code, month], weight: 0, level: 0, prices: 0 };
        this.#sums.set(key, sum);
      }
      sum.weight += 1 / variance;
      sum.level += level / variance;
      sum.prices += 1;
    }
  }

  write(index: Numbers, market: number): void {
    for (const { place, weight, level, prices } of this.#sums.values())
      index.append([market, ...place, level / weight, Math.sqrt(1 / weight), prices]);
  }
}
