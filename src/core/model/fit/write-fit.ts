import type { DuckDBConnection } from '@duckdb/node-api';
import { literal, rows } from '../../../base/duck/session.js';
import { openNumbers, writeNumbers } from '../append-numbers.js';
import type { PricedRow } from './blocks.js';
import type { Coding, Market } from './code-rows.js';
import { type Factor, GROUPS, isShared, LEVEL_FACTORS, REFERENCES, SEGMENTS } from './design.js';
import { shareBelow } from './estimate-errors.js';
import { effectVariance, expected, type Fit, uncertainty } from './fit.js';
import { groupOf, groupsVariance } from './groups.js';
import { setIntervals } from './intervals.js';
import { isUsed, othersOf, reachOf, type State } from './passes.js';

/** Number of factors that are listed with an estimate. */
export const DRIVERS = 5;

/** Estimates every lot as if its price were not known, and computes the index. */
export async function writeEstimates(
  connection: DuckDBConnection,
  { rows: lots, factors, tree }: Coding,
  state: State,
  market: Market,
): Promise<void> {
  const { fit, noise } = state;
  const widenedAt = await widths(connection, market);
  const effectsOn = effectReader(fit, factors);
  const levels = indexLevels(factors, fit);
  const ofMonth = fit.spread[factors.findIndex(({ name }) => name === 'month')] ?? 0;
  const estimates = await openNumbers(connection, 'fit.estimates', market.number);
  const row: number[] = [];
  lots.all((priced) => {
    const middle = expected(fit, priced);
    const error = priced.logPrice - middle;
    const isToCome = Number.isNaN(error);
    const variance = noise[priced.noise] ?? 1;
    const used = isUsed(error, variance);
    const ofGroups = groupsVariance(fit.groups, priced);
    const unsure = uncertainty(fit, priced, ofGroups);
    const others = othersOf(state, priced, unsure, ofGroups);
    const estimate = used ? priced.logPrice - error / others : middle;
    const spread = used ? variance / others : variance + unsure;
    const make = tree[tree[priced.model]?.parent ?? -1]?.parent ?? -1;
    const { logBuyNow, ahead } = priced;
    // Until the auction, the level of prices may change as it did from month to month.
    const toCome = Number.isNaN(ahead) ? 0 : ahead * ofMonth;
    const widened = widenedAt(Math.round(Math.exp(estimate)));
    const reach = reachOf(state, priced, estimate, spread - variance + toCome);
    const around = { ...reach, deviation: widened * reach.deviation };
    const canBeBought = isToCome && !Number.isNaN(logBuyNow) && !Number.isNaN(ahead);
    row[0] = priced.lot;
    row[1] = estimate;
    setIntervals(row, 2, around);
    row[6] = used || isToCome ? 0 : 1;
    row[7] = fit.nodes.sums.weight[make] ?? 0;
    row[8] = canBeBought ? state.taken(logBuyNow - estimate) : Number.NaN;
    const effects = effectsOn(priced);
    row[9] = (effects.effects[STATE] ?? 0) + groupOf(fit.groups, priced, BRANCH);
    row[10] = groupOf(fit.groups, priced, SELLER);
    setDrivers(row, effects);
    const asked = canBeBought ? logBuyNow : priced.logPrice;
    // The distance is NaN without a price; a NaN becomes null.
    const distance = (asked - estimate) / around.deviation;
    row[FIRST_DRIVER + 2 * DRIVERS] = Number.isNaN(distance)
      ? distance
      : shareBelow(around.quantiles, distance);
    row[FIRST_DRIVER + 2 * DRIVERS + 1] = widened;
    estimates.append(row);
    if (used) levels.add(priced, error, variance);
  });
  estimates.close();
  await writeNumbers(connection, 'fit.index', market.number, levels.rows());
}

/** The factor on the width of an interval by its estimate in whole units of the currency, as interval_factors has it; 1 without a row. */
async function widths(
  connection: DuckDBConnection,
  { market, currency }: Market,
): Promise<(estimate: number) => number> {
  const found = await rows(
    connection,
    `select estimate_from, factor from interval_factors
     where market = ${literal(market)} and currency = ${literal(currency)} order by estimate_from desc`,
  );
  const factors = found.map((row) => ({ from: Number(row.estimate_from), factor: Number(row.factor) }));
  return (estimate) => factors.find(({ from }) => from <= estimate)?.factor ?? 1;
}

/** Positions among the factors, which begin with LEVEL_FACTORS, and among GROUPS. */
const STATE = LEVEL_FACTORS.indexOf('state');
const BRANCH = GROUPS.findIndex(({ name }) => name === 'branch');
const SELLER = GROUPS.findIndex(({ name }) => name === 'seller');

/** Position of the first driver in a row of the table `estimates`. */
const FIRST_DRIVER = 11;

/** The effect of each factor on a lot against the mean of all prices, and the last of its coefficients that the lot has. */
interface Effects {
  readonly effects: Float64Array;
  readonly coefficients: Int32Array;
}

/** Gives the effects of the factors on a lot, which the next lot overwrites. */
function effectReader(fit: Fit, factors: readonly Factor[]): (priced: PricedRow) => Effects {
  const places = Int32Array.from([0, ...factors.flatMap(({ levels }, i) => levels.map(() => i))]);
  // A level that all lots have is their mean, and no term of a row.
  const means = Float64Array.from(factors, (factor) => (isShared(factor) ? 0 : meanOf(factor, fit)));
  const offsets = Int32Array.from(factors, ({ offset }) => offset);
  const effects = new Float64Array(factors.length);
  const coefficients = new Int32Array(factors.length);
  const found = { effects, coefficients };
  return ({ index, share, count }) => {
    for (let i = 0; i < effects.length; i += 1) effects[i] = -(means[i] ?? 0);
    coefficients.set(offsets);
    for (let i = 1; i < count; i += 1) {
      const at = index[i] ?? 0;
      const place = places[at] ?? 0;
      coefficients[place] = at;
      effects[place] = (effects[place] ?? 0) + (share[i] ?? 0) * (fit.coefficients[at] ?? 0);
    }
    return found;
  };
}

const meanOf = ({ offset, levels }: Factor, { coefficients, means }: Fit): number =>
  levels.reduce((sum, _, i) => sum + (means[offset + i] ?? 0) * (coefficients[offset + i] ?? 0), 0);

/** Sets the factors that move an estimate furthest from the mean of all prices: their coefficients and effects. */
function setDrivers(row: number[], { effects, coefficients }: Effects): void {
  for (let driver = 0; driver < DRIVERS; driver += 1) {
    const best = furthest(effects);
    row[FIRST_DRIVER + 2 * driver] = coefficients[best] ?? 0;
    row[FIRST_DRIVER + 2 * driver + 1] = effects[best] ?? 0;
    effects[best] = 0;
  }
}

/** The position of the effect that is furthest from 0. */
function furthest(effects: Float64Array): number {
  let best = 0;
  let most = -1;
  for (let i = 0; i < effects.length; i += 1) {
    const size = Math.abs(effects[i] ?? 0);
    if (size <= most) continue;
    best = i;
    most = size;
  }
  return best;
}

/** The level of prices by segment and month: the mean of prices without the effects of all factors but the month. */
function indexLevels(factors: readonly Factor[], { coefficients }: Fit) {
  const { offset = 0, levels = [] } = factors.find(({ name }) => name === 'month') ?? {};
  /** Weight, weighted level and number of prices of each month, by segment and code. */
  const sums: Float64Array[][] = [...SEGMENTS, 'all'].map(() => []);
  return {
    add({ segments, month }: PricedRow, error: number, variance: number): void {
      const level = error + (coefficients[offset + month] ?? 0);
      const at = 3 * month;
      for (let segment = 0; segment <= SEGMENTS.length; segment += 1) {
        const ofCodes = sums[segment] ?? [];
        // All prices have one code.
        const code = segment < SEGMENTS.length ? (segments[segment] ?? 0) : 0;
        ofCodes[code] ??= new Float64Array(3 * levels.length);
        const sum = ofCodes[code];
        sum[at] = (sum[at] ?? 0) + 1 / variance;
        sum[at + 1] = (sum[at + 1] ?? 0) + level / variance;
        sum[at + 2] = (sum[at + 2] ?? 0) + 1;
      }
    },
    *rows(): Generator<number[]> {
      for (const [place, ofCodes] of sums.entries())
        for (const [code, sum] of ofCodes.entries())
          for (let month = 0; sum !== undefined && month < levels.length; month += 1) {
            const [weight = 0, level = 0, prices = 0] = sum.subarray(3 * month);
            const segment = place === SEGMENTS.length ? ALL : place;
            if (prices > 0) yield [segment, code, month, level / weight, Math.sqrt(1 / weight), prices];
          }
    },
  };
}

/** Number in place of a segment for all prices. */
const ALL = -1;

/** Number in place of a coefficient for the price of a lot with the reference level of every factor. */
const BASE = -1;

/** Writes the effects of the levels of each factor, and of makes, models and generations. */
export async function writeEffects(
  connection: DuckDBConnection,
  { factors }: Coding,
  { fit, sums: { counts }, gains }: State,
  market: number,
): Promise<void> {
  await writeNumbers(connection, 'fit.effects', market, effectsOf(factors, fit, counts));
  const nodes = Array.from(fit.nodes.effect, (effect, node) =>
    (fit.nodes.sums.weight[node] ?? 0) > 0 ? [[node, effect, Math.sqrt(effectVariance(fit, node))]] : [],
  ).flat();
  await writeNumbers(connection, 'fit.nodes', market, nodes);
  const groups = fit.groups.effect.flatMap((effects, kind) =>
    Array.from(effects, (effect, code) => [
      kind,
      code,
      effect,
      Math.sqrt(fit.groups.variance[kind]?.[code] ?? 0),
    ]),
  );
  await writeNumbers(connection, 'fit.group_effects', market, groups);
  const { squares, ofGroups } = gains;
  const shares = Array.from(ofGroups, (gain, kind) => [kind, squares > 0 ? gain / squares : Number.NaN]);
  await writeNumbers(connection, 'fit.gains', market, shares);
}

/** A row for each level of each factor, compared with the reference of its factor, and one for the base price. */
function* effectsOf(factors: readonly Factor[], { coefficients, covariance }: Fit, counts: Float64Array) {
  const between = (a: number, b: number): number => covariance[a * coefficients.length + b] ?? 0;
  let base = coefficients[0] ?? 0;
  for (const factor of factors) {
    const reference = referenceOf(factor, counts);
    base += coefficients[reference] ?? 0;
    for (const [i, level] of factor.levels.entries()) {
      const at = factor.offset + i;
      const effect = (coefficients[at] ?? 0) - (coefficients[reference] ?? 0);
      const variance = between(at, at) + between(reference, reference) - 2 * between(at, reference);
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
