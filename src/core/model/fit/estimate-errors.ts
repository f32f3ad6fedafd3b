/** Fewest errors that a class needs for quantiles of its own. */
const ENOUGH = 200;
/** Quantiles that describe the errors of a class: at 0.005, 0.015 … 0.995. */
const SHARES = Array.from({ length: 100 }, (_, i) => (i + 0.5) / 100);

/** Classes of noise that stand in for each other: prices of auctions, and prices at which a lot could be bought at once. */
const poolOf = (member: number): number => (member >> 1) & 1;

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

/**
 * How well a car is known: the variance of its expected price, as a share of the noise, below each of these or above all.
 * Errors of little known cars say little of well known ones, because a fit to few prices misjudges how sure it is.
 */
const KNOWN = [0.15, 0.4, 1];

const knownOf = (unsure: number, noise: number): number => {
  const place = KNOWN.findIndex((most) => unsure < most * noise);
  return place < 0 ? KNOWN.length : place;
};

/** Quantiles by class of noise and by how well a car is known; see {@link quantilesAt}. */
export type QuantilesOf = readonly Quantiles[];

/** Number of ways in which a car is known. */
const WAYS = KNOWN.length + 1;

/** The quantiles of a class of noise, for a variance of the expected price. */
export const quantilesAt = (all: QuantilesOf, member: number, unsure: number, noise: number): Quantiles =>
  all[member * WAYS + knownOf(unsure, noise)] ?? [];

/** Errors of expected prices, by class of noise. */
export class Errors {
  readonly #error: number[][];
  readonly #unsure: number[][];

  constructor(classes: number) {
    this.#error = Array.from({ length: classes }, () => []);
    this.#unsure = Array.from({ length: classes }, () => []);
  }

  /** Adds an error of the logarithm of a price, with the variance of the expected one. */
  add(member: number, error: number, unsure: number): void {
    this.#error[member]?.push(error);
    this.#unsure[member]?.push(unsure);
  }

  /** Whether there are enough errors to judge by. */
  get areEnough(): boolean {
    return this.#error.reduce((sum, errors) => sum + errors.length, 0) >= ENOUGH;
  }

  /**
   * The quantiles of a class among cars that are known as well; of all classes like it, if it has few errors; of all cars
   * of these, if they have few, too.
   * @param noise variance of a log price about the expected one, by class
   */
  quantiles(noise: readonly number[]): QuantilesOf {
    const errors = noise.flatMap((own, member) => this.#byWay(member, own));
    const names = errors.map((_, at) => namesOf(Math.floor(at / WAYS), at % WAYS));
    const found = new Map<string, Quantiles>();
    const quantilesOf = (name: string): Quantiles => {
      const known = found.get(name);
      if (known !== undefined) return known;
      const made = quantiles(
        errors.filter((_, at) => names[at]?.includes(name)),
        name === ALL ? 1 : ENOUGH,
      );
      found.set(name, made);
      return made;
    };
    return names.map((own) => quantilesOf(own.find((name) => quantilesOf(name).length > 0) ?? ALL));
  }

  /** The errors of a class in standard deviations, by how well the car is known. */
  #byWay(member: number, noise: number): readonly number[][] {
    const ways = Array.from({ length: WAYS }, (): number[] => []);
    const unsure = this.#unsure[member] ?? [];
    for (const [i, error] of this.#error[member]?.entries() ?? []) {
      const own = unsure[i] ?? 0;
      ways[knownOf(own, noise)]?.push(error / Math.sqrt(noise + own));
    }
    return ways;
  }
}

/** The groups that the quantiles of a price can come from, the nearest first. */
const namesOf = (member: number, known: number): readonly string[] => [
  `${member} ${known}`,
  `like ${poolOf(member)} ${known}`,
  `like ${poolOf(member)}`,
  ALL,
];

const ALL = 'all';

/** The quantiles of all errors of some lists; none if there are too few. */
function quantiles(lists: readonly (readonly number[])[], fewest: number): Quantiles {
  const sorted = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  if (sorted.length < fewest) return [];
  let end = 0;
  for (const list of lists) {
    sorted.set(list, end);
    end += list.length;
  }
  sorted.sort();
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
