import type { Matrix } from 'ml-matrix';
import type { Factor } from './design.js';
import type { Square } from './evidence.js';
import type { Spread } from './make-tree.js';

/** Keeps a coefficient near zero if no price determines it; 1 / variance. */
const TINY = 0.01;

/** Adds the prior of the effects: each contrast of a factor is near zero, as its spread allows. */
export function addPriors(system: Matrix, factors: readonly Factor[], spread: Spread): void {
  const add = (row: number, column: number, precision: number): Matrix =>
    system.set(row, column, system.get(row, column) + precision);
  for (let at = 0; at < system.rows; at += 1) add(at, at, TINY);
  factors.forEach((factor, i) => {
    const precision = 1 / (spread[i] ?? 1);
    for (const contrast of contrastsOf(factor))
      for (const [row, a] of contrast)
        for (const [column, b] of contrast) if (row <= column) add(row, column, a * b * precision);
  });
}

/** A weighted sum of coefficients that is near zero unless sales show otherwise. */
export type Contrast = readonly (readonly [coefficient: number, weight: number])[];

/** A level lies near the mean, a month near the month before, and the line of age and of mileage bends little. */
export function contrastsOf({ name, offset, levels, knots }: Factor): Contrast[] {
  if (knots === undefined) return levels.map((_, i) => [[offset + i, 1]]);
  const gap = (at: number): number => (knots[at + 1] ?? 0) - (knots[at] ?? 0);
  const steps = knots.slice(1).map((_, at) => at);
  if (name === 'month')
    return steps.map((at) => [
      [offset + at, -1],
      [offset + at + 1, 1],
    ]);
  // At an inner knot: the slope after it less the slope before it.
  return steps.slice(1).map((at) => {
    const weight = Math.sqrt(2 / (gap(at - 1) + gap(at)));
    return [
      [offset + at - 1, weight / gap(at - 1)],
      [offset + at, -weight / gap(at - 1) - weight / gap(at)],
      [offset + at + 1, weight / gap(at)],
    ];
  });
}

export function squareOf(contrast: Contrast, coefficients: Float64Array, covariance: Float64Array): Square {
  const size = coefficients.length;
  let [effect, left] = [0, 0];
  for (const [row, a] of contrast) {
    effect += a * (coefficients[row] ?? 0);
    for (const [column, b] of contrast) left += a * b * (covariance[row * size + column] ?? 0);
  }
  return [effect ** 2, left];
}
