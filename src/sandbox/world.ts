import { LotlakeError } from '../config/lotlake-error.js';
import { archivedLotRecord } from './record/lot.js';
import { type StatisticRecord, statisticRecords } from './record/statistics.js';
import { vehicleJson } from './record/vehicle.js';
import { wholeSecond } from './world/instants.js';
import { domainBit, feedAt, isActive, isGone, lifeOfId, listedLot, livesAt, seenLots } from './world/life.js';
import { FIRST_CLOCK, lotId, lotOfId, type Population, population } from './world/population.js';

/** A wrong use of the sandbox itself; never a fault that it injects on request. */
export class SandboxError extends LotlakeError {
  override readonly name = 'SandboxError';
  constructor(message: string) {
    super('SANDBOX_INVALID', message, { outcome: 'usage' });
  }
}

/** The clock of a world when none is given. */
export const DEFAULT_CLOCK: Date = new Date('2026-11-20T00:00:00Z');

/** What fixes a world; the same three give the same bytes, always and everywhere. */
export interface WorldOptions {
  /** Default 1. */
  readonly seed?: number;
  /** Active vehicles at any clock, within about 2 %. Default 1,000. */
  readonly vehicles?: number;
  /** Default 2026-11-20T00:00:00Z; not before 2024-10-02. */
  readonly clock?: Date;
}

/** The market at one moment. Everything in it is computed on demand. */
export interface World extends Population {
  readonly clock: Date;
  /** The same world at another time. */
  at(clock: Date): World;
  /** Ids in the feed, ascending: of vehicles with a lot on a source that is not archived, changed at or after `since`. */
  activeIds(domainId?: number, since?: Date): readonly number[];
  /**
   * The record of a vehicle that is in the feed, as the text that the service sends, else undefined.
   * @param options `pricesHistory` adds `prices` to each lot (`prices_history=1`). Default false.
   */
  vehicleJson(id: number, options?: { readonly pricesHistory?: boolean }): string | undefined;
  /** Ids of the lots archived within the last month and at or after `since`, by time of archiving. */
  archivedLotIds(since?: Date): readonly number[];
  /** The record that the archive feed has of a lot, else undefined. */
  archivedLot(lotId: number): object | undefined;
  /** Records of `/statistics`, ascending by id; calculated once a week. */
  statistics(): readonly StatisticRecord[];
}

/** Makes a world. Throws SandboxError where the clock or the size cannot be. */
export function createWorld(options: WorldOptions = {}): World {
  const { seed = 1, vehicles = 1_000, clock = DEFAULT_CLOCK } = options;
  if (!Number.isSafeInteger(seed)) throw new SandboxError(`seed must be an integer, not ${seed}`);
  if (!(vehicles >= 1 && vehicles <= 4_000_000)) throw new SandboxError(`vehicles must be 1 to 4,000,000`);
  return worldAt(population(seed, vehicles), clock);
}

/** Something computed from a world once, when it is first asked for; a world at another clock is another world. */
export function perWorld<T>(make: (world: World) => T): (world: World) => T {
  const made = new WeakMap<World, { readonly value: T }>();
  return (world) => {
    const known = made.get(world) ?? { value: make(world) };
    made.set(world, known);
    return known.value;
  };
}

const feedOf = perWorld((world) => feedAt(world, world.clock.getTime()));

const statisticsOf = perWorld((world) => statisticRecords(world, world.clock.getTime()));

/** Lots archived within the month before the clock, by time of archiving. */
const archiveOf = perWorld((world) => {
  const now = world.clock.getTime();
  const lives = [...livesAt(world, now)].filter((life) => !isGone(life, now));
  const lots = lives.flatMap((life) => seenLots(world, life, now).filter((lot) => lot.end <= now));
  return lots.sort((a, b) => a.end - b.end || lotId(a) - lotId(b));
});

function worldAt(base: Population, clock: Date): World {
  const now = wholeSecond(clock.getTime());
  if (!(now >= FIRST_CLOCK))
    throw new SandboxError(`clock must not be before ${new Date(FIRST_CLOCK).toISOString()}`);
  const world: World = {
    ...base,
    clock: new Date(now),
    at: (other) => worldAt(base, other),
    activeIds: (domainId, since) => idsOf(world, domainId, since?.getTime()),
    vehicleJson: (id, options) => {
      const life = lifeOfId(base, id);
      if (life === undefined || !isActive(life, now)) return undefined;
      return vehicleJson(base, life, now, { shape: 'feed', withPrices: options?.pricesHistory });
    },
    archivedLotIds: (since) => {
      const from = since?.getTime() ?? 0;
      return archiveOf(world)
        .filter((lot) => lot.end >= from)
        .map(lotId);
    },
    archivedLot: (id) => {
      const found = listedLot(base, lotOfId(id), now);
      if (found === undefined || found.lot.end > now) return undefined;
      return archivedLotRecord(base, found.life, found.lot);
    },
    statistics: () => statisticsOf(world),
  };
  return world;
}

function idsOf(world: World, domainId?: number, since = 0): readonly number[] {
  const feed = feedOf(world);
  if (domainId === undefined && since === 0) return feed.ids;
  const bits = domainId === undefined ? -1 : domainBit(domainId);
  return feed.ids.filter(
    (_, place) => ((feed.domains[place] ?? 0) & bits) !== 0 && (feed.updatedAt[place] ?? 0) >= since,
  );
}
