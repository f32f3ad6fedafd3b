import { recordJson, vehicleRecord } from './record/vehicle.js';
import { carOf } from './world/car.js';
import { DAY, type Instant } from './world/instants.js';
import { carLife, isActive, isGone, type Life, lifeOf, livesAt, seenLots } from './world/life.js';
import type { LotLife } from './world/lot-life.js';
import { ARCHIVE_DAYS, indexOf, lotNumber, lotOfExternalId, lotOfNumber } from './world/population.js';
import { hash, Salt } from './world/random.js';
import type { World } from './world.js';

/** Something computed from a world once, when it is first asked for; a world at another clock is another world. */
export function perWorld<T>(make: (world: World) => T): (world: World) => T {
  const made = new WeakMap<World, T>();
  return (world) => {
    const known = made.get(world);
    if (known !== undefined) return known;
    const value = make(world);
    made.set(world, value);
    return value;
  };
}

/** A vehicle that the service still has: in the feed, or archived within the last month. */
export interface Found {
  readonly life: Life;
  /** The lot that it was found by. */
  readonly lot?: LotLife;
}

/** Sources that a key may see. */
type Domains = readonly number[];

function retained(world: World, life: Life, domains: Domains): boolean {
  const now = world.clock.getTime();
  if (isGone(life, now) || life.birth > now || now >= life.end + ARCHIVE_DAYS * DAY) return false;
  return seenLots(world, life, now).some((lot) => domains.includes(lot.life.domain));
}

/** The vehicle of an id, also when it was archived within the last month. */
export function findVehicle(world: World, id: number, domains: Domains): Found | undefined {
  const index = indexOf(world, id);
  if (index === undefined) return undefined;
  const life = lifeOf(world, index);
  return retained(world, life, domains) ? { life } : undefined;
}

/** The vehicle that holds a lot number on one of the given sources. */
export const findLot = (world: World, number: string, domains: Domains): Found | undefined =>
  /^\d{1,12}$/.test(number) ? holderOf(world, lotOfNumber(Number(number)), domains) : undefined;

/** The vehicle that holds the lot with an id inside source 1, with or without its suffix. */
export function findExternalId(world: World, id: string): Found | undefined {
  const place = lotOfExternalId(id);
  return place && holderOf(world, place, [1]);
}

function holderOf(
  world: World,
  { index, place }: Pick<LotLife, 'index' | 'place'>,
  domains: Domains,
): Found | undefined {
  if (index < 0) return undefined;
  const now = world.clock.getTime();
  const first = lifeOf(world, index);
  const lot = first.lots[place];
  if (lot === undefined || lot.start > now || now >= lot.end + ARCHIVE_DAYS * DAY) return undefined;
  if (!domains.includes(lot.domain)) return undefined;
  const life =
    first.mergedInto !== null && isGone(first, now) ? lifeOf(world, first.mergedInto.index) : first;
  return { life, lot };
}

/** Lives by VIN in upper case. */
const livesByVin = perWorld((world): ReadonlyMap<string, readonly Life[]> => {
  const byVin = new Map<string, Life[]>();
  for (const life of livesAt(world, world.clock.getTime())) {
    const vin = carOf(world, carLife(world, life)).vin?.toUpperCase();
    if (vin === undefined || vin === '') continue;
    byVin.set(vin, [...(byVin.get(vin) ?? []), life]);
  }
  return byVin;
});

/** The vehicle of a VIN in any case; of several the newest, those in the feed before the archived ones. */
export function findVin(world: World, vin: string, domains: Domains): Found | undefined {
  const now = world.clock.getTime();
  const lives = (livesByVin(world).get(vin.toUpperCase()) ?? []).filter((life) =>
    retained(world, life, domains),
  );
  const life = lives.findLast((one) => isActive(one, now)) ?? lives.at(-1);
  return life && { life };
}

/** How a found vehicle is written. */
export interface FoundForm {
  readonly shape: 'feed' | 'detail';
  readonly withPrices?: boolean;
  /** Gives the reports of the lot that was asked for instead of those of all lots that are not archived. */
  readonly ofLot?: boolean;
}

/** The text of a found vehicle's record. */
export function foundJson(world: World, { life, lot }: Found, form: FoundForm): string {
  const record = vehicleRecord(world, life, world.clock.getTime(), {
    shape: form.shape,
    withPrices: form.withPrices ?? false,
    ...(form.ofLot === true && lot !== undefined ? { listing: lot } : {}),
  });
  return recordJson(life.domain, record);
}

/** The record of a vehicle in the feed as `/search` gives it: with the later members, without reports. */
export function compactRecord(world: World, id: number, withPrices: boolean): object {
  const life = lifeOf(world, indexOf(world, id) ?? 0);
  return vehicleRecord(world, life, world.clock.getTime(), { shape: 'compact', withPrices });
}

/** The same as text. */
export const compactJson = (world: World, id: number, withPrices: boolean): string =>
  recordJson(lifeOf(world, indexOf(world, id) ?? 0).domain, compactRecord(world, id, withPrices));

/** Two lot numbers of source 12 that stand for one offer. */
export interface Duplicate {
  readonly original: number;
  readonly duplicate: number;
  /** When the service found out. */
  readonly addedAt: Instant;
}

/** Numbers of duplicates that never got into the feed lie this far above those of lots. */
const DROPPED_NUMBERS = 100_000_000;
/** One vehicle of source 12 in this many has such a duplicate. */
const SHARE = 4;

/** Duplicates in the order in which they were found: further lots of one vehicle, and listings that were dropped. */
export const duplicatesOf = perWorld((world): readonly Duplicate[] => {
  const now = world.clock.getTime();
  const found: Duplicate[] = [];
  for (const life of livesAt(world, now)) if (life.domain === 12) found.push(...ofLife(world, life, now));
  return found.sort((a, b) => a.addedAt - b.addedAt || a.duplicate - b.duplicate);
});

function ofLife(world: World, life: Life, now: Instant): Duplicate[] {
  const [first, ...others] = life.lots;
  if (first === undefined) return [];
  const original = Number(lotNumber(first));
  const later = others
    .filter((lot) => lot.start <= now && now < lot.end + ARCHIVE_DAYS * DAY)
    .map((lot) => ({ original, duplicate: Number(lotNumber(lot)), addedAt: lot.start }));
  const draw = hash(world.seed, life.index, Salt.duplicate);
  const addedAt = life.birth + (draw % 86_400) * 1000;
  const dropped =
    draw % SHARE === 0 && addedAt <= now
      ? [{ original, duplicate: original + DROPPED_NUMBERS, addedAt }]
      : [];
  return [...later, ...dropped];
}
