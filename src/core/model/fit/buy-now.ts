/** A sold lot that had a Buy Now price. */
export interface BuyNowSale {
  /** Logarithm of its Buy Now price against the price expected at auction. */
  readonly ratio: number;
  readonly isTaken: boolean;
}

/** The chance that a lot that sells goes for its Buy Now price, by the logarithm of that price against the expected one. */
export type BuyNowChance = (ratio: number) => number;

/**
 * What is assumed before any sale: half of the lots at the expected price, and a price that is a tenth higher is taken by
 * fewer. The prices of a source can all lie at one ratio, and then say nothing of others.
 */
const ASSUMED = { level: 0, ofLevel: 2, slope: -4, ofSlope: 2 };
/** Steps of Newton's method, and the most that one moves: prices far from the expected one would throw it off. */
const STEPS = 30;
const FARTHEST = 1;

/** Learns the chance from sales: a logistic curve over the ratio, shrunk towards what is assumed. */
export function buyNowChance(sales: readonly BuyNowSale[]): BuyNowChance {
  let [level, slope] = [ASSUMED.level, ASSUMED.slope];
  const chanceAt = (ratio: number): number => 1 / (1 + Math.exp(-level - slope * ratio));
  for (let step = 0; step < STEPS; step += 1) {
    const [ofLevel, ofSlope] = [ASSUMED.ofLevel ** -2, ASSUMED.ofSlope ** -2];
    let [a, b, c] = [ofLevel, 0, ofSlope];
    let [up, along] = [ofLevel * (ASSUMED.level - level), ofSlope * (ASSUMED.slope - slope)];
    for (const { ratio, isTaken } of sales) {
      const chance = chanceAt(ratio);
      const weight = chance * (1 - chance);
      a += weight;
      b += weight * ratio;
      c += weight * ratio ** 2;
      up += (isTaken ? 1 : 0) - chance;
      along += ((isTaken ? 1 : 0) - chance) * ratio;
    }
    const determinant = a * c - b ** 2;
    const [rise, turn] = [(c * up - b * along) / determinant, (a * along - b * up) / determinant];
    const part = Math.min(1, FARTHEST / Math.max(Math.abs(rise), Math.abs(turn)));
    level += part * rise;
    slope += part * turn;
  }
  return chanceAt;
}
