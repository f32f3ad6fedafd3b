import { describe, expect, it } from 'vitest';
import { distanceAt, Errors, quantilesAt, shareBelow } from '../../../src/core/model/fit/estimate-errors.js';
import { setIntervals } from '../../../src/core/model/fit/intervals.js';

/** Evenly spread errors of a class: uniform from -1 to 1 standard deviations. */
function evenErrors(classes: number, member: number, count: number, unsure = 0): Errors {
  const errors = new Errors(classes);
  for (let i = 0; i < count; i += 1) errors.add(member, (2 * (i + 0.5)) / count - 1, unsure);
  return errors;
}

const NOISE = [1, 1, 1, 1];
const even = quantilesAt(evenErrors(4, 0, 2_000).quantiles(NOISE), 0, 0, 1);

describe('quantiles of errors', () => {
  it('are those of the errors, and shareBelow is their inverse', () => {
    for (const share of [0.1, 0.25, 0.5, 0.9]) {
      expect(distanceAt(even, share)).toBeCloseTo(2 * share - 1, 2);
      expect(shareBelow(even, distanceAt(even, share))).toBeCloseTo(share, 6);
    }
    expect([shareBelow(even, -2), shareBelow(even, 2)]).toEqual([0, 1]);
  });

  it('come from cars that are known as well, if there are 200', () => {
    const errors = evenErrors(4, 0, 400);
    // Little known cars are three times as far off as their uncertainty says.
    for (let i = 0; i < 400; i += 1) errors.add(0, 6 * ((2 * (i + 0.5)) / 400 - 1), 3);
    const found = errors.quantiles(NOISE);
    expect(distanceAt(quantilesAt(found, 0, 0, 1), 0.9)).toBeCloseTo(0.8, 1);
    expect(distanceAt(quantilesAt(found, 0, 3, 1), 0.9)).toBeCloseTo(2.4, 1);
  });

  it('of a class with few errors are those of its kind, never those of sales at a Buy Now price', () => {
    const errors = evenErrors(4, 0, 400);
    for (let i = 0; i < 400; i += 1) errors.add(2, ((2 * (i + 0.5)) / 400 - 1) / 10, 0);
    const found = errors.quantiles(NOISE);
    expect(distanceAt(quantilesAt(found, 1, 0, 1), 0.9)).toBeCloseTo(0.8, 1);
    expect(distanceAt(quantilesAt(found, 3, 0, 1), 0.9)).toBeCloseTo(0.08, 2);
  });
});

/** The share of sales inside an interval: at the Buy Now price with a chance, otherwise evenly spread. */
function inside([low = 0, high = 0]: readonly number[], price: number, chance: number): number {
  const below = (at: number): number => Math.min(1, Math.max(0, (Math.log(at) + 1) / 2));
  const atPrice = Math.log(low) <= price + 1e-9 && price <= Math.log(high) + 1e-9 ? chance : 0;
  return atPrice + (1 - chance) * (below(high) - below(low));
}

describe('intervals', () => {
  const around = { middle: 0, deviation: 1, quantiles: even };
  const ends = (price?: number, share = 0) => {
    const row: number[] = [];
    setIntervals(row, 0, around, price === undefined ? undefined : { logPrice: price, share });
    return { of80: [row[0], row[3]] as number[], of50: [row[1], row[2]] as number[] };
  };

  it('of a lot that is only auctioned are quantiles of the errors', () => {
    const { of80, of50 } = ends();
    expect(of80.map(Math.log)).toEqual([expect.closeTo(-0.8, 2), expect.closeTo(0.8, 2)]);
    expect(of50.map(Math.log)).toEqual([expect.closeTo(-0.5, 2), expect.closeTo(0.5, 2)]);
  });

  it.each([
    [0.7, 0.4],
    [0.95, 0.2],
    [-0.9, 0.3],
    [2, 0.4],
    [0.2, 0.1],
  ])('hold the sales of a lot with a Buy Now price %f away and a chance of %f', (price, chance) => {
    const { of80, of50 } = ends(price, chance);
    expect(inside(of80, price, chance)).toBeCloseTo(0.8, 1);
    // An interval of 50 % reaches to the estimate, so that with an end at the Buy Now price it can hold more.
    expect(inside(of50, price, chance)).toBeGreaterThan(0.48);
    expect(inside(of50, price, chance)).toBeLessThan(0.71);
    expect(Math.log(of50[0] ?? 0)).toBeLessThanOrEqual(0.001);
    expect(Math.log(of50[1] ?? 0)).toBeGreaterThanOrEqual(-0.001);
  });
});
