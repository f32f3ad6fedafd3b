import type { PricedRow } from './blocks.js';
import { type BuyNowSale, buyNowChance } from './buy-now.js';
import type { Coding } from './code-rows.js';
import { type Factor, GROUPS, sharedOf, sizeOf } from './design.js';
import { BUY_NOW, emptyLaw, errorLaw, kindOf, type PriceError, quantilesAt } from './estimate-errors.js';
import { emptyFit, expected, type Fit, solve, uncertainty } from './fit.js';
import { fitGroups, type GroupEffects, groupOf, groupsOf, groupsVariance } from './groups.js';
import { setIntervals } from './intervals.js';
import type { Visit } from './rows.js';
import { addSale, emptySums, fillShared } from './sums.js';

/** A price that is further than this many standard deviations from the expected price is not used. */
const FARTHEST = 5;
/** Degrees of freedom of Student's t distribution, which weighs prices in the first passes. */
const FREEDOM = 4;
/** Number of prices that the noise of all prices counts as in the noise of a class. */
const LEAN = 30;
const LEAST_NOISE = 1e-4;
/** Assumed noise before the first fit. */
const FIRST_NOISE = 0.1;

/**
 * How a pass weighs prices. `all`: every price alike, in the first pass. `robust`: less the further it is from the
 * expected price. `alike`: every price alike, without those that are too far off.
 */
type Weighing = 'all' | 'robust' | 'alike';

/** How a pass weighs prices, and whether it fits the groups. */
export type Pass = readonly [Weighing, 'groups'?];

/** The fit after some passes over the prices. */
export type State = Readonly<ReturnType<typeof startState>>;

/** The state before any pass. */
export function startState({ factors, tree, noises, groups }: Coding) {
  return {
    fit: emptyFit(factors, groups),
    sums: emptySums(sizeOf(factors), tree.filter(({ depth }) => depth === 0).length),
    /** Variance of a log price about the expected one, by class of noise. */
    noise: Array<number>(noises).fill(FIRST_NOISE),
    /** The variances that the fit weighed its prices with; those that resulted are in `noise`. */
    weighed: [] as number[],
    /** How far prices lie from what the others predict. */
    errors: emptyLaw,
    /** How likely a Buy Now price is taken. */
    taken: buyNowChance([]),
    /** Squared errors of judged prices, and how much larger they are without the effects of each of GROUPS. */
    gains: {
      prices: 0,
      squares: 0,
      ofGroups: new Float64Array(GROUPS.length),
    },
  };
}

/** Visits prices, weighs each by the last fit, and fits again: first all effects but those of groups, then those. */
export function pass(
  { factors, tree, noises }: Coding,
  last: State,
  [weighing, withGroups]: Pass,
  prices: Visit,
): State {
  const sums = emptySums(sizeOf(factors), last.sums.leaves.weight.length);
  const [squares, weights] = [new Float64Array(noises), new Float64Array(noises)];
  const { groups } = last.fit;
  let count = 0;
  prices((priced) => {
    const variance = last.noise[priced.noise] ?? 1;
    const ofGroups = groupsOf(groups, priced);
    const error = priced.logPrice - expected(last.fit, priced, ofGroups);
    const weight = weightOf(weighing, error ** 2 / variance);
    squares[priced.noise] = (squares[priced.noise] ?? 0) + weight * error ** 2;
    weights[priced.noise] = (weights[priced.noise] ?? 0) + weight;
    addSale(sums, priced, weight / variance, priced.logPrice - ofGroups);
    count += 1;
  });
  fillShared(sums, sharedOf(factors));
  const fit = solve(sums, factors, tree, last.fit);
  const noise =
    weighing === 'all' ? last.noise : noiseOf(squares, weights, last.fit.freedom + groups.freedom);
  if (withGroups === undefined) return { ...last, fit, sums, noise, weighed: last.noise };
  const regrouped = fitGroups(
    groups,
    prices,
    count,
    (priced) => priced.logPrice - expected(fit, priced),
    ({ noise: member }, error) => {
      const variance = noise[member] ?? 1;
      return weightOf(weighing, error ** 2 / variance) / variance;
    },
  );
  return { ...last, fit: { ...fit, groups: regrouped }, sums, noise, weighed: last.noise };
}

/** Measures the errors of prices against what the others predict. */
export function measure({ factors }: Coding, state: State, prices: Visit): State {
  const left: PriceError[] = [];
  const sales: BuyNowSale[] = [];
  const premium = premiumOf(factors, state.fit);
  const { fit, noise } = state;
  prices((priced) => {
    const { noise: member } = priced;
    const middle = expected(fit, priced);
    const ofGroups = groupsVariance(fit.groups, priced);
    const others = othersOf(state, priced, uncertainty(fit, priced, ofGroups), ofGroups);
    // Without the price itself, the others are less sure of it.
    const unsure = (1 - others) / others;
    const deviation = Math.sqrt((noise[member] ?? 1) * (1 + unsure));
    const error = (priced.logPrice - middle) / others;
    const isTaken = kindOf(member) === BUY_NOW;
    if (!Number.isNaN(priced.logBuyNow))
      sales.push({ ratio: priced.logBuyNow - (priced.logPrice - error) + (isTaken ? premium : 0), isTaken });
    left.push({
      member,
      middle: priced.logPrice - error,
      age: ageOf(priced),
      unsure,
      error: error / deviation,
    });
  });
  return { ...state, errors: errorLaw(left), taken: buyNowChance(sales) };
}

/** How much more a lot brings at its Buy Now price than at auction, as a logarithm. */
function premiumOf(factors: readonly Factor[], { coefficients }: Fit): number {
  const { offset = 0, levels = [] } = factors.find(({ name }) => name === 'sold_by') ?? {};
  const effectOf = (level: string): number => coefficients[offset + levels.indexOf(level)] ?? 0;
  return levels.length < 2 ? 0 : effectOf('buy_now') - effectOf('auction');
}

/** The age of a car as the width of its error depends on it. */
const AGE = GROUPS.findIndex(({ times }) => times === 'age');
const ageOf = ({ times }: PricedRow): number => times[AGE] ?? 0;

/**
 * Where a price is expected to lie: the quantiles of its class, and how far one standard deviation reaches.
 * @param variance of the estimate without the noise of a sale
 */
export function reachOf({ errors, noise }: State, priced: PricedRow, middle: number, variance: number) {
  const own = noise[priced.noise] ?? 1;
  const width = errors.widthOf({ middle, age: ageOf(priced), unsure: variance / own });
  return {
    middle,
    deviation: width * Math.sqrt(own + variance),
    quantiles: quantilesAt(errors, priced.noise),
  };
}

function weightOf(weighing: Weighing, square: number): number {
  if (weighing === 'all') return 1;
  if (weighing === 'robust') return (FREEDOM + 1) / (FREEDOM + square);
  return square < FARTHEST ** 2 ? 1 : 0;
}

/**
 * Share of the expected price that comes from other prices, 0.01 to 1. Groups are fitted to what the other effects leave. So
 * the share that other prices have in those effects and their share in the groups multiply.
 * @param unsure variance of the expected price
 * @param ofGroups the part of it that the groups have
 */
export function othersOf({ weighed }: State, priced: PricedRow, unsure: number, ofGroups: number): number {
  const noise = weighed[priced.noise] ?? 1;
  return Math.max(0.01, (1 - (unsure - ofGroups) / noise) * (1 - Math.min(0.9, ofGroups / noise)));
}

/** Whether a price is used: there is one, and it is not too far off. */
export const isUsed = (error: number, variance: number): boolean => error ** 2 < FARTHEST ** 2 * variance;

/** Variance by class of noise, corrected for the number of fitted coefficients. */
function noiseOf(squares: Float64Array, weights: Float64Array, freedom: number): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const correction = total / Math.max(total - freedom, total / 4);
  const all = (correction * squares.reduce((sum, square) => sum + square, 0)) / total;
  return [...squares].map((square, i) =>
    Math.max(LEAST_NOISE, (correction * square + LEAN * all) / ((weights[i] ?? 0) + LEAN)),
  );
}

/** Judges the prices of a month by a fit to the prices before it, then adds them to the fit. */
export function judgeMonth(
  { rows, factors, tree }: Coding,
  state: State,
  month: number,
  append: (values: number[]) => void,
): State {
  const { fit, sums, noise, gains } = state;
  const row: number[] = [];
  rows.priced([month, month + 1])((priced) => {
    const ofGroups = groupsOf(fit.groups, priced);
    const middle = expected(fit, priced, ofGroups);
    const variance = noise[priced.noise] ?? 1;
    const around = reachOf(state, priced, middle, uncertainty(fit, priced));
    row[0] = priced.lot;
    row[1] = middle;
    setIntervals(row, 2, around);
    append(row);
    const error = priced.logPrice - middle;
    gains.prices += 1;
    if (Math.abs(error) >= FARTHEST * around.deviation) return;
    addGains(gains, fit.groups, priced, error);
    addSale(sums, priced, 1 / variance, priced.logPrice - ofGroups);
  });
  fillShared(sums, sharedOf(factors));
  return { ...state, fit: solve(sums, factors, tree, fit) };
}

/** Adds the squared error of a price, and how much larger it is without the effect of each of its groups. */
function addGains(gains: State['gains'], effects: GroupEffects, priced: PricedRow, error: number): void {
  gains.squares += error ** 2;
  for (let kind = 0; kind < GROUPS.length; kind += 1) {
    const own = groupOf(effects, priced, kind);
    gains.ofGroups[kind] = (gains.ofGroups[kind] ?? 0) + own ** 2 + 2 * own * error;
  }
}

/** Fewest judged prices that can show that a kind of groups is of no use. */
const ENOUGH = 200;

/**
 * The fit without the kinds of groups that did not bring judged prices nearer. It asks for no clear gain: a kind whose effects are
 * none has a narrow spread, and adds next to nothing.
 */
export function withoutUseless({ fit, gains }: State): Fit {
  const { groups } = fit;
  const keeps = (kind: number): boolean => gains.prices < ENOUGH || (gains.ofGroups[kind] ?? 0) > 0;
  const kept = (arrays: readonly Float64Array[]): Float64Array[] =>
    arrays.map((values, kind) => (keeps(kind) ? values : new Float64Array()));
  const spread = groups.spread.map((variance, kind) => (keeps(kind) ? variance : 0));
  return {
    ...fit,
    groups: { ...groups, effect: kept(groups.effect), variance: kept(groups.variance), spread },
  };
}
