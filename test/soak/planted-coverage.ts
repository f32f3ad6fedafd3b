import type { World } from '../../src/sandbox/index.js';
import { type PlantedLot, type PriceLaw, plantedLots } from '../sandbox/planted.js';

/** An estimate with its intervals, USD, and the time of the auction that it is for. */
export interface Told {
  readonly lot_id: number;
  readonly priced_at: Date;
  readonly estimate: number;
  readonly low_80: number;
  readonly low_50: number;
  readonly high_50: number;
  readonly high_80: number;
}

/** What the planted law says of an estimate: chances that the price lies within, and expected scores. */
export interface Covered<T extends Told> {
  readonly told: T;
  readonly law: PriceLaw;
  /** What the lot can be bought for; 0 or null if it cannot. */
  readonly buyNow: number | null;
  readonly inside80: number;
  readonly inside50: number;
  /** The weighted interval score of the log price, and that of the intervals of the law itself; less is better. */
  readonly score: number;
  readonly lawScore: number;
  /** How likely the price is to be accepted. */
  readonly weight: number;
}

/** Prices are multiples of this. */
const STEP = 25;

/** The planted chance that the price of each lot lies within its intervals, if the lot sells at auction. */
export function coverage<T extends Told>(world: World, estimates: readonly T[]): Covered<T>[] {
  const lots = new Map([...plantedLots(world)].map((lot) => [lot.lotId, lot]));
  return estimates.flatMap((told) => {
    const lot = lots.get(told.lot_id);
    return lot === undefined ? [] : [judge(told, lot)];
  });
}

function judge<T extends Told>(told: T, { buyNow, priceAt }: PlantedLot): Covered<T> {
  const law = priceAt(told.priced_at);
  const floor = law.expected * law.accepted;
  const below = (price: number): number => shareBelow(law, price);
  const refused = below(floor);
  const weight = 1 - refused;
  /** The chance of a price of at least `low` and at most `high` after rounding. */
  const inside = (low: number, high: number): number => {
    const first = Math.max(floor, (Math.ceil(low / STEP) - 0.5) * STEP);
    const last = (Math.floor(high / STEP) + 0.5) * STEP;
    return last <= first ? 0 : (below(last) - below(first)) / weight;
  };
  const points = quantilesOf(law, refused);
  const own = [0.5, 0.1, 0.25, 0.75, 0.9].map((share) => points[Math.round(share * POINTS - 0.5)] ?? 0);
  const log = [told.estimate, told.low_80, told.low_50, told.high_50, told.high_80].map(Math.log);
  return {
    told,
    law,
    buyNow,
    inside80: inside(told.low_80, told.high_80),
    inside50: inside(told.low_50, told.high_50),
    score: scoreOf(points, log),
    lawScore: scoreOf(points, own),
    weight,
  };
}

const shareBelow = ({ expected, deviation, tail }: PriceLaw, price: number): number => {
  if (price <= 0) return 0;
  const far = Math.log(price / expected) / deviation;
  return (1 - tail.share) * normalBelow(far) + tail.share * normalBelow(far / tail.width);
};

/** The share of the standard normal distribution below a value (Abramowitz and Stegun 7.1.26). */
function normalBelow(value: number): number {
  const x = Math.abs(value) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const poly =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const erf = 1 - poly * Math.exp(-x * x);
  return value < 0 ? (1 - erf) / 2 : (1 + erf) / 2;
}

const POINTS = 60;

/** Log prices at the middle of as many equal shares, of those that are accepted. */
function quantilesOf(law: PriceLaw, refused: number): number[] {
  return Array.from({ length: POINTS }, (_, i) => {
    const share = refused + ((1 - refused) * (i + 0.5)) / POINTS;
    let [low, high] = [-12, 12];
    for (let step = 0; step < 40; step += 1) {
      const middle = (low + high) / 2;
      if (shareBelow(law, law.expected * Math.exp(middle * law.deviation)) < share) low = middle;
      else high = middle;
    }
    return Math.log(law.expected) + ((low + high) / 2) * law.deviation;
  });
}

/** The weighted interval score of a median and intervals of 80 and 50 %, averaged over log prices. */
function scoreOf(
  points: readonly number[],
  [middle = 0, low80 = 0, low50 = 0, high50 = 0, high80 = 0]: number[],
): number {
  const interval = (price: number, low: number, high: number, alpha: number): number =>
    (alpha / 2) * (high - low) + Math.max(0, low - price) + Math.max(0, price - high);
  const sum = points.reduce(
    (total, price) =>
      total +
      Math.abs(price - middle) / 2 +
      interval(price, low80, high80, 0.2) +
      interval(price, low50, high50, 0.5),
    0,
  );
  return sum / points.length / 2.5;
}

/** Means over estimates, weighted by how likely each price is. */
export function meansOf(rows: readonly Covered<Told>[]) {
  const weight = rows.reduce((sum, row) => sum + row.weight, 0);
  const mean = (read: (row: Covered<Told>) => number): number =>
    rows.reduce((sum, row) => sum + row.weight * read(row), 0) / weight;
  return {
    rows: rows.length,
    inside80: 100 * mean(({ inside80 }) => inside80),
    inside50: 100 * mean(({ inside50 }) => inside50),
    score: 1000 * mean(({ score }) => score),
    lawScore: 1000 * mean(({ lawScore }) => lawScore),
  };
}
