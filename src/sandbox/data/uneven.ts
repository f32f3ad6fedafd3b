import { type Instant, MONTH } from '../world/instants.js';
import { hash, normal, Salt, stream } from '../world/random.js';

/**
 * In which ways a market is harder to estimate than the plain one (docs/change/sandbox.md). A world without them has none; each
 * can be set alone.
 */
export interface Uneven {
  /**
   * Least and most of the Buy Now prices as multiples of the value, spread evenly by their logarithm. The chance that one is
   * taken falls with it.
   */
  readonly buyNow?: readonly [least: number, most: number];
  /** Standard deviations of the logarithm of a price: of prices expected below `limit` (USD), and of the others. */
  readonly noise?: { readonly limit: number; readonly below: number; readonly above: number };
  /** How many times as wide the noise of cars from an age on is. */
  readonly oldNoise?: { readonly years: number; readonly width: number };
  /** Least and most of the part of the expected price that the seller of a lot accepts at auction. */
  readonly reserve?: readonly [least: number, most: number];
  /** A factor on all prices from an instant on. */
  readonly break?: { readonly at: Instant; readonly factor: number };
  /** Standard deviation of the change of all prices from month to month, as a logarithm. */
  readonly walk?: number;
  /** Most by which title, make and a reserve price each move the logit of the chance to sell. */
  readonly odds?: number;
}

/** The multiple of its value at which a lot can be bought, by a number from 0 to 1. */
export const buyNowRatio = ([least, most]: readonly [number, number], drawn: number): number =>
  least * (most / least) ** drawn;

/** The chance that a lot that sells goes for its Buy Now price, which is a multiple of its value: 0.4 at 1.15, 0.03 at 2. */
export const buyNowChance = (ratio: number): number => 1 / (1 + (ratio / 1.075) ** 6);

/** The standard deviation of the logarithm of a price. @param usual that of the plain law */
export function noiseAt({ noise, oldNoise }: Uneven, usual: number, price: number, age: number): number {
  const byPrice = noise === undefined ? usual : price < noise.limit ? noise.below : noise.above;
  return oldNoise !== undefined && age >= oldNoise.years ? byPrice * oldNoise.width : byPrice;
}

/** The factor on all prices at an instant. */
export function levelAt({ break: step, walk }: Uneven, seed: number, at: Instant): number {
  const broken = step !== undefined && at >= step.at ? step.factor : 1;
  return walk === undefined ? broken : broken * Math.exp(walk * walked(seed, at));
}

/** Where a random walk with a step of 1 a month is, in a straight line between the months. */
function walked(seed: number, at: Instant): number {
  const months = (at - Date.UTC(2024, 0, 1)) / MONTH;
  let sum = 0;
  for (let month = 0; month < months; month += 1)
    sum += Math.min(1, months - month) * normal(stream(seed, month, Salt.walk));
  return sum;
}

/** What a trait adds to the logit of the chance to sell. */
export const oddsOf = (most: number, trait: number, value: number): number =>
  most * (hash(trait, value, Salt.odds) / 0x8000_0000 - 1);
