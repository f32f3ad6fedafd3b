import { distanceAt, type Quantiles, shareBelow } from './estimate-errors.js';

/** Shares of prices that lie within the intervals. */
const WITHIN = [0.8, 0.5] as const;

/** The price at which a lot can be bought before its auction, and how likely a sale is made at it. */
export interface BuyNow {
  /** Logarithm of the price. */
  readonly logPrice: number;
  /** Share of sales, 0 to 1. */
  readonly share: number;
}

/** Sets the ends of the intervals of 80 and 50 % as prices: low_80, low_50, high_50, high_80, from a place of a row on. */
export function setIntervals(
  row: number[],
  place: number,
  { middle, deviation, quantiles }: { middle: number; deviation: number; quantiles: Quantiles },
  buyNow?: BuyNow,
): void {
  for (let i = 0; i < WITHIN.length; i += 1) {
    const within = WITHIN[i] ?? 0;
    const [low, high] =
      buyNow === undefined
        ? [distanceAt(quantiles, (1 - within) / 2), distanceAt(quantiles, (1 + within) / 2)]
        : mixedEnds(quantiles, within, (buyNow.logPrice - middle) / deviation, buyNow.share);
    row[place + i] = Math.exp(middle + low * deviation);
    row[place + 3 - i] = Math.exp(middle + high * deviation);
  }
}

/**
 * The ends of an interval of the distances at which a lot is sold: with some chance exactly at its Buy Now price, otherwise
 * at auction. Both tails are alike, unless an end is the Buy Now price: all sales at it lie within, so the other end comes
 * nearer, at most to the estimate.
 * @param price distance of the Buy Now price
 * @param chance of a sale at it
 */
function mixedEnds(
  quantiles: Quantiles,
  within: number,
  price: number,
  chance: number,
): readonly [number, number] {
  const auctions = 1 - chance;
  const below = shareBelow(quantiles, price);
  const endAt = (share: number): number => {
    if (share < auctions * below) return distanceAt(quantiles, share / auctions);
    return share <= auctions * below + chance ? price : distanceAt(quantiles, (share - chance) / auctions);
  };
  const [low, high] = [endAt((1 - within) / 2), endAt((1 + within) / 2)];
  const left = Math.max(0, (within - chance) / auctions);
  if (high === price && low < price)
    return [Math.max(low, Math.min(0, price, distanceAt(quantiles, below - left))), high];
  if (low === price && high > price)
    return [low, Math.min(high, Math.max(0, price, distanceAt(quantiles, below + left)))];
  return [low, high];
}
