import { distanceAt, type Quantiles } from './estimate-errors.js';

/** Shares of prices that lie within the intervals. */
const WITHIN = [0.8, 0.5] as const;

/** Sets the ends of the intervals of 80 and 50 % as prices: low_80, low_50, high_50, high_80, from a place of a row on. */
export function setIntervals(
  row: number[],
  place: number,
  { middle, deviation, quantiles }: { middle: number; deviation: number; quantiles: Quantiles },
): void {
  for (let i = 0; i < WITHIN.length; i += 1) {
    const within = WITHIN[i] ?? 0;
    row[place + i] = Math.exp(middle + distanceAt(quantiles, (1 - within) / 2) * deviation);
    row[place + 3 - i] = Math.exp(middle + distanceAt(quantiles, (1 + within) / 2) * deviation);
  }
}
