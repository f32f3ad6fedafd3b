import { CholeskyDecomposition, Matrix } from 'ml-matrix';
import { evidence } from './evidence.js';

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

/** Variance of the logarithm of the width about a straight line, before errors are known. */
const ASSUMED = { usual: 0.02, prior: 1 };
/** Steps towards the most likely widths. */
const STEPS = 8;
/** The largest error, in means, that counts as such: a few prices that are far off must not make a class wide. */
const MOST = 4;

/**
 * Learns from errors of prices that the estimate did not know. The logarithm of the mean distance is a sum of three lines with
 * bends, by price, age and how well the car is known, each shrunk towards none as far as the errors allow.
 */
export function errorLaw(errors: readonly PriceError[]): ErrorLaw {
  if (errors.length === 0) return emptyLaw;
  const middles = Float64Array.from(errors, ({ middle }) => middle).sort();
  const prices = PRICES.map((share) => quantile(middles, share));
  const lines = [prices, AGES, UNSURE];
  const size = 1 + lines.reduce((sum, { length }) => sum + length, 0);
  const termsOf = ({ middle, age, unsure }: Trait, terms: Float64Array): void => {
    terms.fill(0);
    terms[0] = 1;
    let offset = 1;
    for (const [i, value] of [middle, age, unsure].entries()) {
      place(terms, offset, lines[i] ?? [], value);
      offset += lines[i]?.length ?? 0;
    }
  };
  const rows = errors.map((error) => {
    const terms = new Float64Array(size);
    termsOf(error, terms);
    return terms;
  });
  const distances = errors.map(({ error }) => Math.abs(error));
  const coefficients = widths(rows, distances, lines);
  const terms = new Float64Array(size);
  const widthOf = (trait: Trait): number => {
    termsOf(trait, terms);
    return Math.exp(product(terms, coefficients));
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

/** Places a value between two knots: the share of the way to each is the share of the other. */
function place(terms: Float64Array, offset: number, knots: readonly number[], value: number): void {
  let at = 0;
  while (at < knots.length - 2 && value > (knots[at + 1] ?? 0)) at += 1;
  const [low = 0, high = 1] = [knots[at], knots[at + 1]];
  const share = high > low ? Math.max(0, Math.min(1, (value - low) / (high - low))) : 0;
  terms[offset + at] = 1 - share;
  terms[offset + at + 1] = share;
}

function product(terms: Float64Array, coefficients: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < terms.length; i += 1) sum += (terms[i] ?? 0) * (coefficients[i] ?? 0);
  return sum;
}

/** The coefficients of the logarithm of the mean distance: of a constant, and of the knots of each line. */
function widths(
  rows: readonly Float64Array[],
  distances: readonly number[],
  lines: readonly (readonly number[])[],
): Float64Array {
  const size = rows[0]?.length ?? 1;
  const coefficients = new Float64Array(size);
  coefficients[0] = Math.log(distances.reduce((sum, distance) => sum + distance, 0) / distances.length);
  const spread = lines.map(() => ASSUMED.usual);
  for (let step = 0; step < STEPS; step += 1) {
    const system = Matrix.zeros(size, size);
    const right = new Float64Array(size);
    rows.forEach((terms, row) => {
      const ratio = Math.min(MOST, (distances[row] ?? 0) / Math.exp(product(terms, coefficients)));
      for (let a = 0; a < size; a += 1) {
        const own = terms[a] ?? 0;
        if (own === 0) continue;
        right[a] = (right[a] ?? 0) + own * (ratio - 1);
        for (let b = 0; b < size; b += 1)
          if (terms[b] !== 0) system.set(a, b, system.get(a, b) + own * (terms[b] ?? 0));
      }
    });
    let offset = 1;
    const squares: [number, number, number][] = [];
    lines.forEach((knots, line) => {
      knots.forEach((_, i) => {
        const at = offset + i;
        const precision = 1 / (spread[line] ?? 1);
        system.set(at, at, system.get(at, at) + precision);
        right[at] = (right[at] ?? 0) - precision * (coefficients[at] ?? 0);
        squares.push([line, at, 0]);
      });
      offset += knots.length;
    });
    system.set(0, 0, system.get(0, 0) + 1e-6);
    const inverse = new CholeskyDecomposition(system).solve(Matrix.eye(size));
    const change = inverse.mmul(Matrix.columnVector(right)).to1DArray();
    for (let at = 0; at < size; at += 1) coefficients[at] = (coefficients[at] ?? 0) + (change[at] ?? 0);
    lines.forEach((_, line) => {
      const own = squares.filter(([of]) => of === line);
      spread[line] = evidence(
        spread[line] ?? 1,
        own.map(([, at]) => [(coefficients[at] ?? 0) ** 2, inverse.get(at, at)] as const),
        ASSUMED,
      ).variance;
    });
  }
  return coefficients;
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
