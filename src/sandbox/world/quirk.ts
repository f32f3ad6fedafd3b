import type { Population } from './population.js';
import { hash, Salt } from './random.js';

/**
 * Rare oddities of single vehicles (field-notes.md). Each falls on one of `QUIRK_CYCLE` consecutive vehicles, so that
 * a world of a few thousand holds all of them.
 */
const quirks = [
  'huge odometer',
  'negative money',
  'absurd money',
  'fractional money',
  'script note',
  'formula seller',
  'formula title',
  'kilometres as miles',
  'missing vin',
  'missing vin',
  'empty vin',
  'fake vin',
  'fake vin',
  'shared vin',
  'shared vin',
  'shared vin',
  'shared vin',
  'zero grade',
  'early sold',
  'early sold',
  'early sold',
  'early sold',
  'early sold',
  'early sold',
] as const;

/** An oddity of a vehicle. */
export type Quirk = (typeof quirks)[number];

/** One vehicle of this many has a given quirk. */
const QUIRK_CYCLE = 300;

/** The oddity of the vehicle of an index, for most vehicles none. */
export function quirkOf(world: Population, index: number): Quirk | undefined {
  const slot = (index + (hash(world.seed, 1, Salt.birth) % QUIRK_CYCLE)) % QUIRK_CYCLE;
  // Spread over the cycle, so that neighbours are not all odd.
  return slot % 12 === 0 ? quirks[slot / 12] : undefined;
}
