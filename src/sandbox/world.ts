import { LotlakeError } from '../config/lotlake-error.js';
import { archivedLotRecord } from './record/archived-lot.js';
import { calculatedAt, type StatisticRecord, statisticRecords } from './record/statistics.js';
import { recordJson, vehicleRecord } from './record/vehicle.js';
import { DAY, type Instant, wholeSecond } from './world/instants.js';
import {
  allLots,
  domainBit,
  type Feed,
  feedAt,
  isActive,
  isGone,
  type Life,
  lifeOf,
  livesAt,
} from './world/life.js';
import type { LotLife } from './world/lot-life.js';
import {
  ARCHIVE_DAYS,
  FIRST_CLOCK,
  indexOf,
  lotId,
  lotOfId,
  type Population,
  population,
} from './world/population.js';

/** A wrong use of the sandbox itself; never a fault that it injects on request. */
export class SandboxError extends LotlakeError {
  override readonly name = 'SandboxError';
  constructor(message: string, hint?: string) {
    super(message, {
      code: 'SANDBOX_INVALID',
      stage: 'sandbox',
      outcome: 'usage',
      ...(hint === undefined ? {} : { hint }),
    });
  }
}

/** The clock of a world when none is given. */
export const DEFAULT_CLOCK: Date = new Date('2026-11-20T00:00:00Z');
const DEFAULT_SEED = 1;
const DEFAULT_VEHICLES = 1_000;

/** What fixes a world; the same three give the same bytes, always and everywhere. */
export interface WorldOptions {
  /** Default 1. */
  readonly seed?: number;
  /** Active vehicles at any clock, within about 2 %. Default 1,000. */
  readonly vehicles?: number;
  /** Default 2026-11-20T00:00:00Z; not before 2024-10-02. */
  readonly clock?: Date;
}

/** How records are wanted. */
interface RecordOptions {
  /** Adds `prices` to each lot (`prices_history=1`). Default false. */
  readonly pricesHistory?: boolean;
}

/** The market at one moment. Everything in it is computed on demand. */
export interface World extends Population {
  readonly clock: Date;
  /** The same world at another time. */
  at(clock: Date): World;
  /** Ids of the vehicles in the feed, ascending; of one source: those with a lot there that is not archived. */
  activeIds(domainId?: number): readonly number[];
  /** Ids as above, of vehicles that changed at or after `since`. */
  changedIds(since: Date, domainId?: number): readonly number[];
  /** The record of a vehicle that is in the feed, else undefined. */
  vehicle(id: number, options?: RecordOptions): object | undefined;
  /** The same record as the text that the service sends. */
  vehicleJson(id: number, options?: RecordOptions): string | undefined;
  /** Ids of the lots archived within the last month and at or after `since`, by time of archiving. */
  archivedLotIds(since?: Date): readonly number[];
  /** The record that the archive feed has of a lot, else undefined. */
  archivedLot(lotId: number): object | undefined;
  /** Records of `/statistics`, ascending by id; calculated once a week. */
  statistics(): readonly StatisticRecord[];
}

/** Makes a world. Throws SandboxError where the clock or the size cannot be. */
export function createWorld(options: WorldOptions = {}): World {
  const { seed = DEFAULT_SEED, vehicles = DEFAULT_VEHICLES, clock = DEFAULT_CLOCK } = options;
  if (!Number.isSafeInteger(seed)) throw new SandboxError(`seed must be an integer, not ${seed}`);
  if (!(vehicles >= 1 && vehicles <= 4_000_000)) throw new SandboxError(`vehicles must be 1 to 4,000,000`);
  return worldAt(population(seed, vehicles), clock);
}

function worldAt(base: Population, clock: Date): World {
  const now = wholeSecond(clock.getTime());
  if (!(now >= FIRST_CLOCK))
    throw new SandboxError(`clock must not be before ${new Date(FIRST_CLOCK).toISOString()}`);
  const feed = once(() => feedAt(base, now));
  const archive = once(() => archiveAt(base, now));
  const statistics = once(() => statisticRecords(base, livesAt(base, calculatedAt(now)), calculatedAt(now)));
  const vehicle = (id: number, wanted: RecordOptions = {}): object | undefined => {
    const life = activeLife(base, id, now);
    return (
      life && vehicleRecord(base, life, now, { withPrices: wanted.pricesHistory ?? false, shape: 'feed' })
    );
  };
  return {
    ...base,
    clock: new Date(now),
    at: (other) => worldAt(base, other),
    activeIds: (domainId) => idsOf(feed(), domainId),
    changedIds: (since, domainId) => idsOf(feed(), domainId, since.getTime()),
    vehicle,
    vehicleJson: (id, wanted) => {
      const record = vehicle(id, wanted);
      return record && recordJson(lifeOf(base, indexOf(base, id) ?? 0).domain, record);
    },
    archivedLotIds: (since) => {
      const from = since?.getTime() ?? 0;
      return archive()
        .filter((lot) => lot.end >= from)
        .map(lotId);
    },
    archivedLot: (id) => archivedLot(base, id, now),
    statistics,
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function activeLife(base: Population, id: number, now: Instant): Life | undefined {
  const index = indexOf(base, id);
  if (index === undefined) return undefined;
  const life = lifeOf(base, index);
  return isActive(life, now) ? life : undefined;
}

function idsOf(feed: Feed, domainId?: number, since = 0): readonly number[] {
  if (domainId === undefined && since === 0) return feed.ids;
  const bits = domainId === undefined ? -1 : domainBit(domainId);
  return feed.ids.filter(
    (_, place) => ((feed.domains[place] ?? 0) & bits) !== 0 && (feed.updatedAt[place] ?? 0) >= since,
  );
}

const isArchived = (lot: LotLife, now: Instant): boolean =>
  lot.end <= now && now < lot.end + ARCHIVE_DAYS * DAY;

/** Lots archived within the month before a clock, by time of archiving. */
function archiveAt(base: Population, now: Instant): LotLife[] {
  const found: LotLife[] = [];
  for (const life of livesAt(base, now)) {
    if (isGone(life, now)) continue;
    for (const lot of allLots(base, life, now)) if (isArchived(lot, now)) found.push(lot);
  }
  return found.sort((a, b) => a.end - b.end || lotId(a) - lotId(b));
}

function archivedLot(base: Population, id: number, now: Instant): object | undefined {
  const { index, place } = lotOfId(id);
  if (index < 0) return undefined;
  const first = lifeOf(base, index);
  const lot = first.lots[place];
  if (lot === undefined || !isArchived(lot, now)) return undefined;
  const life = first.mergedInto !== null && isGone(first, now) ? lifeOf(base, first.mergedInto.index) : first;
  return archivedLotRecord(base, life, lot);
}
