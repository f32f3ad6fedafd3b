import type { PricedRow } from './blocks.js';
import type { Coding } from './code-rows.js';
import { sharedOf, sizeOf } from './design.js';
import { emptyFit, expected, solve, uncertainty } from './fit.js';
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
export type Weighing = 'all' | 'robust' | 'alike';

/** The fit after some passes over the prices. */
export type State = Readonly<ReturnType<typeof startState>>;

/** The state before any pass. */
export function startState({ factors, tree, noises }: Coding) {
  return {
    fit: emptyFit(factors),
    sums: emptySums(sizeOf(factors), tree.filter(({ depth }) => depth === 0).length),
    /** Variance of a log price about the expected one, by class of noise. */
    noise: Array<number>(noises).fill(FIRST_NOISE),
    /** The variances that the fit weighed its prices with; those that resulted are in `noise`. */
    weighed: [] as number[],
    /** Distances of prices from the prices that the others predict, in standard deviations. */
    distances: new Quantiles(noises),
    /** The same for prices that were not part of the fit that judged them. */
    judged: new Quantiles(noises),
  };
}

/** Visits prices, weighs each by the last fit, and fits again. */
export function pass(
  { factors, tree, noises }: Coding,
  last: State,
  weighing: Weighing,
  prices: Visit,
): State {
  const sums = emptySums(sizeOf(factors), last.sums.leaves.weight.length);
  const [squares, weights] = [new Float64Array(noises), new Float64Array(noises)];
  prices((priced) => {
    const variance = last.noise[priced.noise] ?? 1;
    const error = priced.logPrice - expected(last.fit, priced);
    const weight = weightOf(weighing, error ** 2 / variance);
    squares[priced.noise] = (squares[priced.noise] ?? 0) + weight * error ** 2;
    weights[priced.noise] = (weights[priced.noise] ?? 0) + weight;
    addSale(sums, priced, weight / variance);
  });
  fillShared(sums, sharedOf(factors));
  const fit = solve(sums, factors, tree, last.fit.spread);
  const noise = weighing === 'all' ? last.noise : noiseOf(squares, weights, last.fit.freedom);
  return { ...last, fit, sums, noise, weighed: last.noise };
}

/** Measures the distances of prices from the prices that the others predict. */
export function measure({ noises }: Coding, state: State, prices: Visit): State {
  const distances = new Quantiles(noises);
  const { fit, noise } = state;
  prices((priced) => {
    const error = priced.logPrice - expected(fit, priced);
    const variance = (noise[priced.noise] ?? 1) * (1 - leverageOf(state, priced, uncertainty(fit, priced)));
    distances.add(priced.noise, error / Math.sqrt(variance));
  });
  return { ...state, distances };
}

function weightOf(weighing: Weighing, square: number): number {
  if (weighing === 'all') return 1;
  if (weighing === 'robust') return (FREEDOM + 1) / (FREEDOM + square);
  return square < FARTHEST ** 2 ? 1 : 0;
}

/** Share of the expected price that comes from the price itself, 0 to 1; `unsure` is its uncertainty. */
export const leverageOf = ({ weighed }: State, priced: PricedRow, unsure: number): number =>
  Math.min(0.99, unsure / (weighed[priced.noise] ?? 1));

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

/** Sets the logarithm of an estimate, then the ends of its intervals as prices, after the lot of a row. */
export function setAround(
  row: number[],
  middle: number,
  deviation: number,
  distances: readonly number[] = [],
): void {
  row[1] = middle;
  for (let i = 0; i < distances.length; i += 1)
    row[2 + i] = Math.exp(middle + (distances[i] ?? 0) * deviation);
}

/**
 * The quantiles that make intervals, by class of noise. A known price has the quantiles of errors that leave out the price
 * itself. A price to come has the quantiles of the back-test, once it has judged enough prices.
 */
export const distancesOf = (
  { noise, distances, judged }: State,
  isToCome = true,
): readonly (readonly number[])[] =>
  noise.map((_, member) => (isToCome && judged.isEnough ? judged : distances).of(member));

/** Judges the prices of a month by a fit to the prices before it, then adds them to the fit. */
export function judgeMonth(
  { rows, factors, tree }: Coding,
  state: State,
  month: number,
  append: (values: number[]) => void,
): State {
  const { fit, sums, noise, judged } = state;
  const distances = distancesOf(state);
  const row: number[] = [];
  rows.priced([month, month + 1])((priced) => {
    const middle = expected(fit, priced);
    const variance = noise[priced.noise] ?? 1;
    const deviation = Math.sqrt(variance + uncertainty(fit, priced));
    row[0] = priced.lot;
    setAround(row, middle, deviation, distances[priced.noise]);
    append(row);
    const distance = (priced.logPrice - middle) / deviation;
    judged.add(priced.noise, distance);
    if (Math.abs(distance) < FARTHEST) addSale(sums, priced, 1 / variance);
  });
  fillShared(sums, sharedOf(factors));
  return { ...state, fit: solve(sums, factors, tree, fit.spread) };
}

/** Bins of a histogram per unit. */
const BINS_A_UNIT = 50;
/** Largest distance from 0 that a histogram counts. */
const WIDEST = 8;
const BINS = 2 * WIDEST * BINS_A_UNIT;
/** Fewest values that a class needs for quantiles of its own. */
const ENOUGH = 200;
const SHARES = [0.1, 0.25, 0.75, 0.9];

/** Distribution of values by class, in constant memory. */
class Quantiles {
  readonly #counts: readonly Float64Array[];
  /** The last class is all together. */
  readonly #totals: Float64Array;

  constructor(classes: number) {
    this.#counts = Array.from({ length: classes + 1 }, () => new Float64Array(BINS));
    this.#totals = new Float64Array(classes + 1);
  }

  add(member: number, value: number): void {
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor((value + WIDEST) * BINS_A_UNIT)));
    for (const at of [member, this.#totals.length - 1]) {
      const counts = this.#counts[at];
      if (counts !== undefined) counts[bin] = (counts[bin] ?? 0) + 1;
      this.#totals[at] = (this.#totals[at] ?? 0) + 1;
    }
  }

  /** Whether there are enough values for quantiles. */
  get isEnough(): boolean {
    return (this.#totals.at(-1) ?? 0) >= ENOUGH;
  }

  /** The quantiles at 0.1, 0.25, 0.75 and 0.9 of a class, or of all values if it has few. */
  of(member: number): readonly number[] {
    const at = (this.#totals[member] ?? 0) >= ENOUGH ? member : this.#totals.length - 1;
    const counts = this.#counts[at] ?? new Float64Array();
    const total = this.#totals[at] ?? 0;
    return SHARES.map((share) => quantile(counts, share * total));
  }
}

function quantile(counts: Float64Array, rank: number): number {
  let sum = 0;
  for (const [bin, count] of counts.entries()) {
    if (count > 0 && sum + count >= rank) return (bin + (rank - sum) / count) / BINS_A_UNIT - WIDEST;
    sum += count;
  }
  return 0;
}
