import { recordJson } from '../record/json.js';
import { vehicleRecord } from '../record/vehicle.js';
import { carOf } from '../world/car.js';
import { isGone, livesAt } from '../world/feed.js';
import { DAY } from '../world/instants.js';
import { lotOfExternalId, lotOfNumber } from '../world/keys.js';
import { carLife, isActive, type Life, lifeOf, seenLots } from '../world/life.js';
import type { LotLife } from '../world/lot-life.js';
import { ARCHIVE_DAYS, indexOf, type Population, population } from '../world/population.js';
import type { World } from '../world.js';
import { perWorld } from './per-world.js';

/** A vehicle that the service still has: in the feed, or archived within the last month. */
export interface Found {
  readonly life: Life;
  /** The lot that it was found by. */
  readonly lot?: LotLife;
}

/** Sources that a key may see. */
type Domains = readonly number[];

const baseOf = (world: World): Population => population(world.seed, world.vehicles);

function retained(world: World, life: Life, domains: Domains): boolean {
  const now = world.clock.getTime();
  if (isGone(life, now) || life.birth > now || now >= life.end + ARCHIVE_DAYS * DAY) return false;
  return seenLots(baseOf(world), life, now).some((lot) => domains.includes(lot.life.domain));
}

/** The vehicle of an id, also when it was archived within the last month. */
export function findVehicle(world: World, id: number, domains: Domains): Found | undefined {
  const base = baseOf(world);
  const index = indexOf(base, id);
  if (index === undefined) return undefined;
  const life = lifeOf(base, index);
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
  const base = baseOf(world);
  const now = world.clock.getTime();
  const first = lifeOf(base, index);
  const lot = first.lots[place];
  if (lot === undefined || lot.start > now || now >= lot.end + ARCHIVE_DAYS * DAY) return undefined;
  if (!domains.includes(lot.domain)) return undefined;
  const life = first.mergedInto !== null && isGone(first, now) ? lifeOf(base, first.mergedInto.index) : first;
  return { life, lot };
}

/** Lives by VIN in upper case. */
const livesByVin = perWorld((world): ReadonlyMap<string, readonly Life[]> => {
  const base = baseOf(world);
  const byVin = new Map<string, Life[]>();
  for (const life of livesAt(base, world.clock.getTime())) {
    const vin = carOf(base, carLife(base, life)).vin?.toUpperCase();
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
  const record = vehicleRecord(baseOf(world), life, world.clock.getTime(), {
    shape: form.shape,
    withPrices: form.withPrices ?? false,
    ...(form.ofLot === true && lot !== undefined ? { listing: lot } : {}),
  });
  return recordJson(life.domain, record);
}

/** The text of a record as `/search` gives it: with the later members, without reports. */
export function compactJson(world: World, id: number, withPrices: boolean): string {
  const base = baseOf(world);
  const life = lifeOf(base, indexOf(base, id) ?? 0);
  const record = vehicleRecord(base, life, world.clock.getTime(), { shape: 'compact', withPrices });
  return recordJson(life.domain, record);
}
