import { describe, expect, it } from 'vitest';
import { buyNowChance } from '../../../src/core/model/fit/buy-now.js';
import {
  distanceAt,
  errorLaw,
  type PriceError,
  quantilesAt,
  shareBelow,
} from '../../../src/core/model/fit/estimate-errors.js';
import { setIntervals } from '../../../src/core/model/fit/intervals.js';

/** The middle of each of so many equal shares of the errors from -1 to 1. */
const even = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => (2 * (i + 0.5)) / count - 1);

/** Evenly spread errors, `width` as far as noise and uncertainty say. */
const errorsOf = (count: number, width: number, more: Partial<PriceError> = {}): PriceError[] =>
  even(count).map((error, i) => ({
    member: 0,
    middle: 8 + (i % 7) / 10,
    age: 0,
    unsure: 0.1,
    ...more,
    error: width * error,
  }));

/** How far 9 in 10 errors reach. */
function reach(law: ReturnType<typeof errorLaw>, trait: Partial<PriceError>, member = 0): number {
  const width = law.widthOf({ middle: 8, age: 0, unsure: 0.1, ...trait });
  return width * distanceAt(quantilesAt(law, member), 0.9);
}

describe('the law of errors', () => {
  const law = errorLaw(errorsOf(2_000, 1));

  it('has the quantiles of the errors, and shareBelow is their inverse', () => {
    const quantiles = quantilesAt(law, 0);
    for (const share of [0.1, 0.25, 0.5, 0.9]) {
      expect(law.widthOf({ middle: 8, age: 0, unsure: 0.1 }) * distanceAt(quantiles, share)).toBeCloseTo(
        2 * share - 1,
        1,
      );
      expect(shareBelow(quantiles, distanceAt(quantiles, share))).toBeCloseTo(share, 6);
    }
    expect([shareBelow(quantiles, -9), shareBelow(quantiles, 9)]).toEqual([0, 1]);
  });

  it.each([
    ['cheap cars', { middle: 6 }, { middle: 9 }],
    ['old cars', { age: 1.4 }, { age: -0.4 }],
    ['little known cars', { unsure: 1.5 }, { unsure: 0.02 }],
  ])('is as wide for %s as their errors', (_, wide, narrow) => {
    const found = errorLaw([...errorsOf(1_000, 2, wide), ...errorsOf(1_000, 1, narrow)]);
    expect(reach(found, wide)).toBeGreaterThan(1.45);
    expect(reach(found, wide)).toBeLessThan(1.75);
    expect(reach(found, narrow)).toBeGreaterThan(0.72);
    expect(reach(found, narrow)).toBeLessThan(0.88);
  });

  it('is alike for all cars whose errors differ by chance alone', () => {
    const widths = [5, 8, 11].flatMap((middle) =>
      [0.02, 2].map((unsure) => law.widthOf({ middle, age: 1, unsure })),
    );
    expect(Math.max(...widths) / Math.min(...widths)).toBeLessThan(1.05);
  });

  it('of sales at a Buy Now price is their own, if there are 200', () => {
    const found = errorLaw([...errorsOf(1_000, 1), ...errorsOf(400, 0.1, { member: 2 })]);
    expect(reach(found, {}, 1)).toBeCloseTo(0.8, 0);
    expect(reach(found, {}, 3)).toBeCloseTo(0.08, 1);
    const few = errorLaw([...errorsOf(1_000, 1), ...errorsOf(100, 0.1, { member: 2 })]);
    expect(reach(few, {}, 3)).toBeGreaterThan(0.6);
  });
});

it('intervals are quantiles of the errors around the estimate', () => {
  const row: number[] = [];
  setIntervals(row, 0, {
    middle: 2,
    deviation: 0.5,
    quantiles: quantilesAt(errorLaw(errorsOf(2_000, 1)), 0),
  });
  const [low80 = 0, low50 = 0, high50 = 0, high80 = 0] = row.map((price) => (Math.log(price) - 2) / 0.5);
  expect(high80 / high50).toBeCloseTo(0.8 / 0.5, 1);
  expect([low80, low50]).toEqual([expect.closeTo(-high80, 2), expect.closeTo(-high50, 2)]);
});

describe('the chance that a Buy Now price is taken', () => {
  it('follows the ratio to the estimate that sales show', () => {
    const sales = even(3_000).map((at, i) => {
      const ratio = 1.2 * at;
      const planted = 1 / (1 + Math.exp(1 + 6 * ratio));
      return { ratio, isTaken: ((i * 7919) % 1000) / 1000 < planted };
    });
    const chance = buyNowChance(sales);
    for (const ratio of [-0.5, 0, 0.3, 1])
      expect(chance(ratio)).toBeCloseTo(1 / (1 + Math.exp(1 + 6 * ratio)), 1);
  });

  it('falls with the ratio where all sales lie at one, and with prices that are far off', () => {
    const chance = buyNowChance(even(400).map((_, i) => ({ ratio: 0.14, isTaken: i % 5 < 2 })));
    expect(chance(0.14)).toBeCloseTo(0.4, 1);
    expect(chance(1.1)).toBeLessThan(0.05);
    const far = buyNowChance([-30, -9, -3, 3, 9, 30].map((ratio) => ({ ratio, isTaken: ratio < 0 })));
    expect([far(-3), far(3)]).toEqual([expect.closeTo(1, 1), expect.closeTo(0, 1)]);
  });
});
