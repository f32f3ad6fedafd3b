import { carOf } from './world/car.js';
import {
  isActive,
  isGone,
  isListed,
  type Life,
  lifeOfId,
  listedLot,
  seenLots,
  visibleLives,
} from './world/life.js';
import { lotNumber, lotOfExternalId, lotOfNumber } from './world/population.js';
import { hash, Salt } from './world/random.js';
import { perWorld, type World } from './world.js';

/** Whether the service still has a vehicle, in the feed or archived, with a lot on one of the given sources. */
const isRetained = (world: World, life: Life, domains: readonly number[]): boolean =>
  !isGone(life, world.now) && seenLots(world, life).some((lot) => domains.includes(lot.domain));

/** The vehicle with an id, also if it was archived within the last month. */
export function findVehicle(world: World, id: number, domains: readonly number[]): Life | undefined {
  const life = lifeOfId(world, id);
  return life !== undefined && isRetained(world, life, domains) ? life : undefined;
}

/** The lot with a number on one of the given sources, and the vehicle that holds it. */
export function findLot(world: World, number: string, domains: readonly number[]) {
  if (!/^\d{1,12}$/.test(number)) return undefined;
  const found = listedLot(world, lotOfNumber(Number(number)));
  return found !== undefined && domains.includes(found.lot.domain) ? found : undefined;
}

/** The lot with an external id of source 1, with or without its suffix, and the vehicle that holds it. */
export function findExternalId(world: World, id: string) {
  const found = listedLot(world, lotOfExternalId(id));
  return found?.lot.domain === 1 ? found : undefined;
}

/** Lives by VIN in upper case. */
const livesByVin = perWorld((world): ReadonlyMap<string, readonly Life[]> => {
  const byVin = new Map<string, Life[]>();
  for (const life of visibleLives(world)) {
    const vin = carOf(world, life).vin?.toUpperCase();
    if (!vin) continue;
    byVin.set(vin, [...(byVin.get(vin) ?? []), life]);
  }
  return byVin;
});

/** The newest vehicle with a VIN in any case, the newest one in the feed if there is one. */
export function findVin(world: World, vin: string, domains: readonly number[]): Life | undefined {
  const lives = livesByVin(world).get(vin.toUpperCase()) ?? [];
  const retained = lives.filter((life) => isRetained(world, life, domains));
  return retained.findLast((life) => isActive(life, world.now)) ?? retained.at(-1);
}

/** Numbers of duplicates that never got into the feed are this far above those of lots. */
const DROPPED_NUMBERS = 100_000_000;
/** One vehicle of source 12 in this many has such a duplicate. */
const SHARE = 4;

/**
 * Duplicates, two lot numbers of source 12 for one offer, in the order in which they were found: further lots of one
 * vehicle, and listings that were dropped.
 */
export const duplicatesOf = perWorld((world) => {
  const lives = [...visibleLives(world)].filter((life) => life.domain === 12);
  const found = lives.flatMap((life) => duplicatesOfLife(world, life));
  return found.sort((a, b) => a.addedAt - b.addedAt || a.duplicate - b.duplicate);
});

function duplicatesOfLife(world: World, life: Life) {
  const [first, ...others] = life.lots;
  if (first === undefined) return [];
  const original = Number(lotNumber(first));
  const later = others
    .filter((lot) => isListed(lot, world.now))
    .map((lot) => ({ original, duplicate: Number(lotNumber(lot)), addedAt: lot.start }));
  const draw = hash(world.seed, life.index, Salt.duplicate);
  const addedAt = life.birth + (draw % 86_400) * 1000;
  if (draw % SHARE !== 0 || addedAt > world.now) return later;
  return [...later, { original, duplicate: original + DROPPED_NUMBERS, addedAt }];
}
