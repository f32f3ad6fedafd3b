import { CholeskyDecomposition, Matrix } from 'ml-matrix';
import { evidence, type Square } from './evidence.js';

/** Fewest errors of a kind of sale that quantiles of its own need. */
const ENOUGH = 200;
/** Quantiles that describe errors: at 0.005, 0.015 … 0.995. */
const SHARES = Array.from({ length: 100 }, (_, i) => (i + 0.5) / 100);

/** The kind of a sale at a Buy Now price. */
export const BUY_NOW = 1;

/** The kind of sale of a class of noise: 0 an auction, or BUY_NOW. */
export const kindOf = (member: number): number => (member >> 1) & 1;

/** The quantiles of errors at SHARES, in standard deviations. */
export type Quantiles = readonly number[];

/** The distance that a share of errors lies below. */
export function distanceAt(quantiles: Quantiles, share: number): number {
  const place = Math.max(0, Math.min(SHARES.length - 1, share * SHARES.length - 0.5));
  const below = Math.floor(place);
  const low = quantiles[below] ?? 0;
  return low + ((quantiles[below + 1] ?? low) - low) * (place - below);
}

/** The share of errors that lie below a distance. */
export function shareBelow(quantiles: Quantiles, distance: number): number {
  const above = quantiles.findIndex((quantile) => quantile > distance);
  if (above < 0) return 1;
  const [low = distance, high = distance] = [quantiles[above - 1], quantiles[above]];
  return above === 0 ? 0 : (above - 0.5 + (distance - low) / (high - low)) / SHARES.length;
}

/** What the width of an error depends on beside the class of noise. */
interface Trait {
  /** The expected log price. */
  readonly middle: number;
  /** Age, in the unit of PricedRow.times. */
  readonly age: number;
  /** How well the car is known: the variance of its expected price as a share of the noise. */
  readonly unsure: number;
}

/** An error of an expected log price. */
export interface PriceError extends Trait {
  /** Class of noise. */
  readonly member: number;
  /** In the standard deviations that noise and uncertainty give. */
  readonly error: number;
}

/** How far prices lie from what is expected. */
export interface ErrorLaw {
  /** Quantiles of errors of auctions and of sales at Buy Now prices, in standard deviations times the width. */
  readonly quantiles: readonly [Quantiles, Quantiles];
  /** How many times as far off a price is as noise and uncertainty say. */
  widthOf(trait: Trait): number;
}

/** The law before any error is known. */
export const emptyLaw: ErrorLaw = { quantiles: [[], []], widthOf: () => 1 };

/** Where the logarithm of the width bends: shares of the expected prices, years of age from 6 in tens, shares of the noise. */
const PRICES = [0.05, 0.2, 0.4, 0.6, 0.8, 0.95];
const AGES = [-0.4, 0, 0.4, 0.8, 1.4];
const UNSURE = [0.05, 0.15, 0.4, 1];

/** Variance of the logarithm of the width at a bend, before errors are known. */
const ASSUMED = { usual: 0.02, prior: 1 };
/** Steps towards the most likely widths. */
const STEPS = 5;
/** The largest error, in means, that counts as such: a few prices that are far off must not make a class wide. */
const MOST = 4;

/**
 * Learns from errors of prices that the estimate did not know. The logarithm of the mean distance is a sum of three lines with
 * bends, by price, age and how well the car is known, each shrunk towards none as far as the errors allow.
 */
export function errorLaw(errors: readonly PriceError[]): ErrorLaw {
  if (errors.length === 0) return emptyLaw;
  const middles = Float64Array.from(errors, ({ middle }) => middle).sort();
  const lines = [PRICES.map((share) => quantile(middles, share)), AGES, UNSURE];
  const coefficients = widths(errors, lines);
  const terms = emptyTerms(1, lines);
  const widthOf = (trait: Trait): number => {
    place(terms, 0, lines, trait);
    return Math.exp(logWidth(terms, 0, coefficients));
  };
  const byKind: number[][] = [[], []];
  for (const each of errors) byKind[kindOf(each.member)]?.push(each.error / widthOf(each));
  const all = quantilesOf(byKind.flat());
  const [auctions = [], buyNow = []] = byKind.map((own) => (own.length < ENOUGH ? all : quantilesOf(own)));
  return { quantiles: [auctions, buyNow], widthOf };
}

/** The quantiles of the errors of a class of noise. */
export const quantilesAt = ({ quantiles }: ErrorLaw, member: number): Quantiles =>
  quantiles[kindOf(member)] ?? [];

/** Bends of the lines. */
type Lines = readonly (readonly number[])[];

/**
 * The coefficients that each trait has, and its share of each: the constant first, and then two of each line. All traits are in two
 * arrays, since arrays of its own for each of 50,000 traits take more time than the sums.
 */
interface Terms {
  readonly index: Int32Array;
  readonly share: Float64Array;
  /** Number of terms of a trait. */
  readonly width: number;
}

function emptyTerms(traits: number, lines: Lines): Terms {
  const width = 1 + 2 * lines.length;
  return { index: new Int32Array(traits * width), share: new Float64Array(traits * width), width };
}

/** Places a trait between the bends of each line; beyond the last ones it has their value. */
function place(
  { index, share, width }: Terms,
  row: number,
  lines: Lines,
  { middle, age, unsure }: Trait,
): void {
  const first = row * width;
  const values = [middle, age, unsure];
  share[first] = 1;
  let offset = 1;
  for (let line = 0; line < lines.length; line += 1) {
    const value = values[line] ?? 0;
    const knots = lines[line] ?? [];
    let at = 0;
    while (at < knots.length - 2 && value > (knots[at + 1] ?? 0)) at += 1;
    const [low, high] = [knots[at] ?? 0, knots[at + 1] ?? 1];
    const part = high > low ? Math.max(0, Math.min(1, (value - low) / (high - low))) : 0;
    const term = first + 1 + 2 * line;
    index[term] = offset + at;
    index[term + 1] = offset + at + 1;
    share[term] = 1 - part;
    share[term + 1] = part;
    offset += knots.length;
  }
}

function logWidth({ index, share, width }: Terms, row: number, coefficients: Float64Array): number {
  let sum = 0;
  for (let i = row * width; i < (row + 1) * width; i += 1)
    sum += (share[i] ?? 0) * (coefficients[index[i] ?? 0] ?? 0);
  return sum;
}

/** The coefficients of the logarithm of the mean distance, step by step: Newton's for them, the evidence's for their spreads. */
function widths(errors: readonly PriceError[], lines: Lines): Float64Array {
  /** The line of each coefficient; the constant is in none. */
  const lineOf = [-1, ...lines.flatMap((knots, line) => knots.map(() => line))];
  const size = lineOf.length;
  const terms = emptyTerms(errors.length, lines);
  for (const [row, error] of errors.entries()) place(terms, row, lines, error);
  const mean = errors.reduce((sum, { error }) => sum + Math.abs(error), 0) / errors.length;
  const coefficients = new Float64Array(size);
  coefficients[0] = Math.log(mean);
  let spread = lines.map(() => ASSUMED.usual);
  for (let step = 0; step < STEPS; step += 1) {
    const { normal, right } = sumsOf(errors, terms, coefficients);
    lineOf.forEach((line, at) => {
      const precision = line < 0 ? 0 : 1 / (spread[line] ?? 1);
      normal[at * size + at] = (normal[at * size + at] ?? 0) + precision;
      right[at] = (right[at] ?? 0) - precision * (coefficients[at] ?? 0);
    });
    const left = new CholeskyDecomposition(Matrix.from1DArray(size, size, normal)).solve(Matrix.eye(size));
    const change = left.mmul(Matrix.columnVector(right));
    for (let at = 0; at < size; at += 1) coefficients[at] = (coefficients[at] ?? 0) + change.get(at, 0);
    const squares = (line: number): Square[] =>
      lineOf.flatMap((own, at) => (own === line ? [[(coefficients[at] ?? 0) ** 2, left.get(at, at)]] : []));
    spread = spread.map((variance, line) => evidence(variance, squares(line), ASSUMED).variance);
  }
  return coefficients;
}

/** The normal equations of a step: a distance of one mean leaves a coefficient as it is. */
function sumsOf(errors: readonly PriceError[], terms: Terms, coefficients: Float64Array) {
  const { index, share, width } = terms;
  const size = coefficients.length;
  const normal = new Float64Array(size * size);
  const right = new Float64Array(size);
  for (let row = 0; row < errors.length; row += 1) {
    const distance = Math.abs(errors[row]?.error ?? 0);
    const excess = Math.min(MOST, distance / Math.exp(logWidth(terms, row, coefficients))) - 1;
    const end = (row + 1) * width;
    for (let i = row * width; i < end; i += 1) {
      const [at, own] = [index[i] ?? 0, share[i] ?? 0];
      right[at] = (right[at] ?? 0) + own * excess;
      for (let k = row * width; k < end; k += 1) {
        const other = at * size + (index[k] ?? 0);
        normal[other] = (normal[other] ?? 0) + own * (share[k] ?? 0);
      }
    }
  }
  return { normal, right };
}

function quantilesOf(values: readonly number[]): Quantiles {
  const sorted = Float64Array.from(values).sort();
  return SHARES.map((share) => quantile(sorted, share));
}

/** The value that a share of a next one lies below: the ranks of sorted values are shares of their number and one more. */
function quantile(sorted: Float64Array, share: number): number {
  const rank = share * (sorted.length + 1) - 1;
  const below = Math.max(0, Math.min(sorted.length - 1, Math.floor(rank)));
  const above = Math.min(sorted.length - 1, below + 1);
  const [low = 0, high = 0] = [sorted[below], sorted[above]];
  return low + (high - low) * Math.max(0, Math.min(1, rank - below));
}
