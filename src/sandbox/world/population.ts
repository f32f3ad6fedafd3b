import type { Uneven } from '../data/uneven.js';
import { DAY, type Instant, wholeSecond } from './instants.js';
import { hash, Salt } from './random.js';

/** Everything that defines a world except its clock. */
export interface Population {
  readonly seed: number;
  /** Vehicles that are active at any one time, within about 2 %. */
  readonly vehicles: number;
  /** Time between two births. */
  readonly interval: number;
  readonly law: Law;
  readonly uneven: Uneven;
}

/**
 * The law of prices: the plain one has a factor for each fact, the rich one (docs/change/sandbox.md) also has interactions.
 */
export type Law = 'plain' | 'rich';

/** A population at one moment. */
export interface Moment extends Population {
  readonly now: Instant;
}

/** When the first vehicle appears. */
const EPOCH: Instant = Date.UTC(2024, 0, 1);
/** Longest time from a vehicle's appearance to its archiving. */
export const MAX_LIFE_DAYS = 245;
/** Archived lots stay readable for this long (service.md#lifecycle). */
export const ARCHIVE_DAYS = 30;
/** Earliest clock: before it the world would still be filling up. */
export const FIRST_CLOCK: Instant = EPOCH + (MAX_LIFE_DAYS + ARCHIVE_DAYS) * DAY;

const MIN_LIFE_DAYS = 6;
const LIFE_POWER = 1.7;
/** Mean of `lifeDays`. Merges shorten it a little. */
const MEAN_LIFE_DAYS = MIN_LIFE_DAYS + (MAX_LIFE_DAYS - MIN_LIFE_DAYS) / (LIFE_POWER + 1);
const LEFT_BY_MERGES = 0.995;
const GOLDEN = 0.618_033_988_749_894_9;
const FIRST_ID = 100_000;
const ID_STEP = 3;

export const population = (seed: number, vehicles: number, law: Law, uneven: Uneven): Population => ({
  seed,
  vehicles,
  law,
  uneven,
  interval: (MEAN_LIFE_DAYS * LEFT_BY_MERGES * DAY) / vehicles,
});

/** When the vehicle of an index appears; ascending with the index. */
export function birthOf(world: Population, index: number): Instant {
  const jitter = hash(world.seed, index, Salt.birth) / 0x1_0000_0000;
  return wholeSecond(EPOCH + (index + jitter) * world.interval);
}

/**
 * How long the vehicle of an index lives, in days. The quantiles of neighbours are spread evenly (golden ratio), so
 * that the number of active vehicles hardly varies.
 */
export function lifeDays(world: Population, index: number): number {
  const offset = hash(world.seed, 0, Salt.life) / 0x1_0000_0000;
  const quantile = (index * GOLDEN + offset) % 1;
  return MIN_LIFE_DAYS + (MAX_LIFE_DAYS - MIN_LIFE_DAYS) * quantile ** LIFE_POWER;
}

/** First and last index of the vehicles that can be visible, as active or as archived. */
export function indexRange({ now, interval }: Moment): readonly [number, number] {
  const first = Math.floor((now - (MAX_LIFE_DAYS + ARCHIVE_DAYS) * DAY - EPOCH) / interval) - 1;
  return [Math.max(0, first), Math.floor((now - EPOCH) / interval)];
}

/** Id of the vehicle of an index; ids ascend with gaps. */
export const idOf = (world: Population, index: number): number =>
  FIRST_ID + index * ID_STEP + (hash(world.seed, index, Salt.birth) % ID_STEP);

/** Index of a vehicle id, or undefined if no vehicle has it. */
export function indexOf(world: Population, id: number): number | undefined {
  const index = Math.floor((id - FIRST_ID) / ID_STEP);
  return index >= 0 && idOf(world, index) === id ? index : undefined;
}

const LOTS_A_VEHICLE = 16;
const FIRST_LOT_ID = 10_000_000;
const FIRST_LOT_NUMBER = 30_000_000;
const EXTERNAL_SHIFT = 160;

/** A lot by the index of its first vehicle and its place among the lots of that vehicle, 0 to 13. */
export interface LotPlace {
  readonly index: number;
  readonly place: number;
}

const slot = (lot: LotPlace): number => lot.index * LOTS_A_VEHICLE + lot.place;

/** Id of a lot; it stays the same if the lot moves to another vehicle. */
export const lotId = (lot: LotPlace): number => FIRST_LOT_ID + slot(lot);

/** Number of the lot on its source: unique within the source, eight digits. */
export const lotNumber = (lot: LotPlace): string => String(FIRST_LOT_NUMBER + slot(lot));

/** External id of a lot of source 1; its digits collide with the numbers of other lots (service.md#vehicles). */
export const externalId = (lot: LotPlace): string => `${FIRST_LOT_NUMBER + slot(lot) + EXTERNAL_SHIFT}~US`;

/** Id of the attempt at a place (0 to 31) of a lot's auctions. */
export const priceId = (lot: LotPlace, attempt: number): number => 1_000_000 + slot(lot) * 32 + attempt;

/** The lot of a slot; the index is negative for a slot that no lot can have. */
const lotOfSlot = (slot: number): LotPlace => ({
  index: Math.floor(slot / LOTS_A_VEHICLE),
  place: slot % LOTS_A_VEHICLE,
});

/** Index and place of the lot that would have an id. */
export const lotOfId = (id: number): LotPlace => lotOfSlot(id - FIRST_LOT_ID);

/** Index and place of the lot that would have a number. */
export const lotOfNumber = (number: number): LotPlace => lotOfSlot(number - FIRST_LOT_NUMBER);

/** Index and place of the lot that would have an external id; the index is negative for any other text. */
export const lotOfExternalId = (id: string): LotPlace =>
  lotOfNumber(Number(/^(\d{1,12})(?:~US)?$/.exec(id)?.[1] ?? 0) - EXTERNAL_SHIFT);
