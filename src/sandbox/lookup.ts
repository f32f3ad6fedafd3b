import { carOf } from './world/car.js';
import { DAY, type Instant } from './world/instants.js';
import {
  isActive,
  isGone,
  isListed,
  type Life,
  lifeOfId,
  listedLot,
  livesAt,
  seenLots,
} from './world/life.js';
import type { LotLife } from './world/lot-life.js';
import { ARCHIVE_DAYS, lotNumber, lotOfExternalId, lotOfNumber } from './world/population.js';
import { hash, Salt } from './world/random.js';
import { perWorld, type World } from './world.js';

/** A vehicle that the service still has: in the feed, or archived within the last month. */
export interface Found {
  readonly life: Life;
  /** The lot that it was found by. */
  readonly lot?: LotLife;
}

function retained(world: World, life: Life, domains: readonly number[]): boolean {
  const now = world.clock.getTime();
  if (isGone(life, now) || life.birth > now || now >= life.end + ARCHIVE_DAYS * DAY) return false;
  return seenLots(world, life, now).some((lot) => domains.includes(lot.domain));
}

/** The vehicle of an id, also when it was archived within the last month. */
export function findVehicle(world: World, id: number, domains: readonly number[]): Found | undefined {
  const life = lifeOfId(world, id);
  return life !== undefined && retained(world, life, domains) ? { life } : undefined;
}

/** The vehicle that holds a lot number on one of the given sources. */
export function findLot(world: World, number: string, domains: readonly number[]): Found | undefined {
  if (!/^\d{1,12}$/.test(number)) return undefined;
  const found = listedLot(world, lotOfNumber(Number(number)), world.clock.getTime());
  return found !== undefined && domains.includes(found.lot.domain) ? found : undefined;
}

/** The vehicle that holds the lot with an id inside source 1, with or without its suffix. */
export function findExternalId(world: World, id: string): Found | undefined {
  const found = listedLot(world, lotOfExternalId(id), world.clock.getTime());
  return found?.lot.domain === 1 ? found : undefined;
}

/** Lives by VIN in upper case. */
const livesByVin = perWorld((world): ReadonlyMap<string, readonly Life[]> => {
  const byVin = new Map<string, Life[]>();
  for (const life of livesAt(world, world.clock.getTime())) {
    const vin = carOf(world, life).vin?.toUpperCase();
    if (vin === undefined || vin === '') continue;
    byVin.set(vin, [...(byVin.get(vin) ?? []), life]);
  }
  return byVin;
});

/** The vehicle of a VIN in any case; of several the newest, those in the feed before the archived ones. */
export function findVin(world: World, vin: string, domains: readonly number[]): Found | undefined {
  const now = world.clock.getTime();
  const lives = livesByVin(world).get(vin.toUpperCase()) ?? [];
  const known = lives.filter((life) => retained(world, life, domains));
  const life = known.findLast((one) => isActive(one, now)) ?? known.at(-1);
  return life && { life };
}

/** Numbers of duplicates that never got into the feed lie this far above those of lots. */
const DROPPED_NUMBERS = 100_000_000;
/** One vehicle of source 12 in this many has such a duplicate. */
const SHARE = 4;

/**
 * Duplicates, two lot numbers of source 12 for one offer, in the order in which they were found: further lots of one
 * vehicle, and listings that were dropped.
 */
export const duplicatesOf = perWorld((world) => {
  const now = world.clock.getTime();
  const lives = [...livesAt(world, now)].filter((life) => life.domain === 12);
  const found = lives.flatMap((life) => ofLife(world, life, now));
  return found.sort((a, b) => a.addedAt - b.addedAt || a.duplicate - b.duplicate);
});

function ofLife(world: World, life: Life, now: Instant) {
  const [first, ...others] = life.lots;
  if (first === undefined) return [];
  const original = Number(lotNumber(first));
  const later = others
    .filter((lot) => isListed(lot, now))
    .map((lot) => ({ original, duplicate: Number(lotNumber(lot)), addedAt: lot.start }));
  const draw = hash(world.seed, life.index, Salt.duplicate);
  const addedAt = life.birth + (draw % 86_400) * 1000;
  if (draw % SHARE !== 0 || addedAt > now) return later;
  return [...later, { original, duplicate: original + DROPPED_NUMBERS, addedAt }];
}
