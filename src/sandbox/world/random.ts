import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { sumOf } from '../../base/config/printable.js';

/** A source of random 32-bit integers; every draw moves it on. */
export type Rng = RandomGenerator;

/** The uses of random numbers. Streams with different salts are independent. */
export const Salt = {
  life: 1,
  car: 2,
  pair: 3,
  birth: 4,
  past: 5,
  report: 6,
  vin: 7,
  rare: 8,
  duplicate: 9,
  color: 10,
  later: 11,
  law: 12,
  walk: 13,
  odds: 14,
  ratio: 15,
  accepts: 16,
  lot: 1000,
  images: 2000,
  purchase: 3000,
  published: 4000,
  reported: 5000,
  rolledBack: 6000,
  tail: 7000,
} as const;

const mix = (value: number): number => {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
};

/** A 32-bit hash of three integers, 0 to 4294967295. */
export const hash = (seed: number, index: number, salt: number): number =>
  mix(mix(mix((seed + 0x9e3779b9) | 0) ^ (index | 0)) ^ Math.imul(salt + 1, 0x85ebca6b));

/** A random stream that depends only on its three arguments. */
export function stream(seed: number, index: number, salt: number): Rng {
  const first = hash(seed, index, salt);
  const second = mix(first ^ 0x5bd1e995);
  return xoroshiro128plusFromState([first, second, mix(second + 0x1b873593), mix(first + 0x38b34ae5)]);
}

/** A number from 0 (included) to 1 (excluded). */
export const unit = (rng: Rng): number => (rng.next() >>> 0) / 0x1_0000_0000;

/** An integer from 0 to `size - 1`. */
export const below = (rng: Rng, size: number): number => Math.floor(unit(rng) * size);

/** An integer from `low` to `high`, both included. */
export const between = (rng: Rng, low: number, high: number): number => low + below(rng, high - low + 1);

/** True in a `share` (0 to 1) of all draws. */
export const chance = (rng: Rng, share: number): boolean => unit(rng) < share;

/** One element of a list, each as likely as the others. */
export function pick<T>(rng: Rng, list: readonly T[]): T {
  const entry = list[below(rng, list.length)];
  if (entry === undefined) throw new RangeError('there is nothing to pick from');
  return entry;
}

/** A draw of the standard normal distribution (Box and Muller). */
export const normal = (rng: Rng): number =>
  Math.sqrt(-2 * Math.log(1 - unit(rng))) * Math.cos(2 * Math.PI * unit(rng));

/** A list that repeats each entry in proportion to its weight, so that `pick` draws by weight. */
export function byWeight<T>(entries: readonly T[], weight: (entry: T) => number): readonly T[] {
  const total = sumOf(entries, weight);
  const places = Math.max(1000, entries.length * 20);
  const drawn = entries.flatMap((entry) =>
    Array<T>(Math.round((weight(entry) / total) * places)).fill(entry),
  );
  return [...entries.slice(0, 1), ...drawn];
}

/** A hexadecimal text of eight digits for each of `words`. */
export const hex = (rng: Rng, words: number): string =>
  Array.from({ length: words }, () => (rng.next() >>> 0).toString(16).padStart(8, '0')).join('');
