import { LotlakeError } from '../base/config/lotlake-error.js';
import type { Uneven } from './data/uneven.js';
import { archivedLotRecord } from './record/lot.js';
import { type StatisticRecord, statisticRecords } from './record/statistics.js';
import { vehicleJson } from './record/vehicle.js';
import { type Instant, wholeSecond } from './world/instants.js';
import {
  domainBits,
  feedOf,
  isActive,
  isGone,
  lifeOfId,
  listedLot,
  seenLots,
  visibleLives,
} from './world/life.js';
import {
  FIRST_CLOCK,
  type Law,
  lotId,
  lotOfId,
  type Moment,
  type Population,
  population,
} from './world/population.js';

/** A wrong use of the sandbox itself, not a fault that it injects on request. */
export class SandboxError extends LotlakeError {
  override readonly name = 'SandboxError';
  constructor(message: string) {
    super('SANDBOX_INVALID', message, { outcome: 'usage' });
  }
}

/** The default clock of a world. */
export const DEFAULT_CLOCK: Date = new Date('2026-11-20T00:00:00Z');

/** What defines a world. The same values give the same bytes, always and everywhere. */
export interface WorldOptions {
  /** Default 1. */
  readonly seed?: number;
  /** Active vehicles at any clock, within about 2 %. Default 1,000. */
  readonly vehicles?: number;
  /** Default 2026-11-20T00:00:00Z; not before 2024-10-02. */
  readonly clock?: Date;
  /** Default plain. */
  readonly law?: Law;
  /** Default none. */
  readonly uneven?: Uneven;
}

/** The market at one moment. Everything in it is computed on demand. */
export interface World extends Moment {
  /** `now` as a date. */
  readonly clock: Date;
  /** The same world at another time. */
  at(clock: Date): World;
  /**
   * Ids of the vehicles in the feed, ascending: those with a lot on one of `domains` that is not archived, and changed
   * at or after `since`. Default all.
   */
  activeIds(domains?: readonly number[], since?: Instant): readonly number[];
  /**
   * The record of a vehicle as the text that the service sends, or undefined if it is not in the feed.
   * @param options `pricesHistory` adds `prices` to each lot (`prices_history=1`). Default false.
   */
  vehicleJson(id: number, options?: { readonly pricesHistory?: boolean }): string | undefined;
  /** Ids of the lots archived within the last month and at or after `since`, by time of archiving. */
  archivedLotIds(since?: Instant): readonly number[];
  /** The record of a lot in the archive feed, or undefined if it is not there. */
  archivedLot(lotId: number): object | undefined;
  /** Records of `/statistics`, ascending by id; calculated once a week. */
  statistics(): readonly StatisticRecord[];
}

/** Makes a world. Throws SandboxError for a seed, a size or a clock that is not possible. */
export function createWorld(options: WorldOptions = {}): World {
  const { seed = 1, vehicles = 1_000, clock = DEFAULT_CLOCK, law = 'plain', uneven = {} } = options;
  if (!Number.isSafeInteger(seed)) throw new SandboxError(`seed must be an integer, not ${seed}`);
  if (!(vehicles >= 1 && vehicles <= 4_000_000)) throw new SandboxError(`vehicles must be 1 to 4,000,000`);
  return worldAt(population(seed, vehicles, law, uneven), clock);
}

/** Computes a value once for each world, when it is first needed. A world at another clock is another world. */
export function perWorld<T extends object>(make: (world: World) => T): (world: World) => T {
  const made = new WeakMap<World, T>();
  return (world) => {
    const value = made.get(world) ?? make(world);
    made.set(world, value);
    return value;
  };
}

const feed = perWorld(feedOf);

const statistics = perWorld(statisticRecords);

/** Lots archived within the last month, by time of archiving. */
const archive = perWorld((world) => {
  const lives = [...visibleLives(world)].filter((life) => !isGone(life, world.now));
  const lots = lives.flatMap((life) => seenLots(world, life).filter((lot) => lot.end <= world.now));
  return lots.sort((a, b) => a.end - b.end || lotId(a) - lotId(b));
});

function worldAt(base: Population, clock: Date): World {
  const now = wholeSecond(clock.getTime());
  if (!(now >= FIRST_CLOCK))
    throw new SandboxError(`clock must not be before ${new Date(FIRST_CLOCK).toISOString()}`);
  const world: World = {
    ...base,
    now,
    clock: new Date(now),
    at: (other) => worldAt(base, other),
    activeIds: (wanted, since = 0) => {
      const { ids, domains, updatedAt } = feed(world);
      if (wanted === undefined && since === 0) return ids;
      const bits = wanted === undefined ? -1 : domainBits(wanted);
      return ids.filter(
        (_, place) => ((domains[place] ?? 0) & bits) !== 0 && (updatedAt[place] ?? 0) >= since,
      );
    },
    vehicleJson: (id, options) => {
      const life = lifeOfId(world, id);
      if (life === undefined || !isActive(life, now)) return undefined;
      return vehicleJson(world, life, { shape: 'feed', withPrices: options?.pricesHistory });
    },
    archivedLotIds: (since = 0) => {
      const lots = archive(world).filter((lot) => lot.end >= since);
      return lots.map(lotId);
    },
    archivedLot: (id) => {
      const found = listedLot(world, lotOfId(id));
      if (found === undefined || found.lot.end > now) return undefined;
      return archivedLotRecord(world, found.life, found.lot);
    },
    statistics: () => statistics(world),
  };
  return world;
}
