import { DAY, type Instant } from './instants.js';
import { allLots, isActive, type Life, lifeOf } from './life.js';
import { type LotLife, stateOf } from './lot-life.js';
import { ARCHIVE_DAYS, idOf, indexRange, type Population } from './population.js';

/** The vehicles that are in the feed at a clock, ascending by id, in parallel arrays. */
export interface Feed {
  readonly ids: readonly number[];
  /** When the record last changed: the newest change of a lot, a lot that came or went, or a merge. */
  readonly updatedAt: readonly Instant[];
  /** Sources of the lots that are not archived, as bits of `domainBit`. */
  readonly domains: readonly number[];
}

/** The bit of a source in `Feed.domains`. */
export const domainBit = (domain: number): number => 1 << domain;

/** Lives that a clock can see anything of, ascending. */
export function* livesAt(world: Population, clock: Instant): Generator<Life> {
  const [first, last] = indexRange(world, clock);
  for (let index = first; index <= last; index += 1) {
    const life = lifeOf(world, index);
    if (life.birth <= clock && clock < life.end + ARCHIVE_DAYS * DAY) yield life;
  }
}

/** Whether a vehicle's lots went over to another vehicle by a clock. */
export const isGone = (life: Life, clock: Instant): boolean =>
  life.mergedInto !== null && life.mergedInto.at <= clock;

const mergedAt = (life: Life, clock: Instant): Instant =>
  life.absorbs !== null && life.absorbs.at <= clock ? life.absorbs.at : 0;

/** When a lot last changed its vehicle's record, if only by vanishing from it. */
function changedAt(lot: LotLife, clock: Instant): Instant {
  const vanishes = lot.end + ARCHIVE_DAYS * DAY;
  return vanishes <= clock ? vanishes : stateOf(lot, clock).updatedAt;
}

/** Looks through all vehicles that may be active at a clock. */
export function feedAt(world: Population, clock: Instant): Feed {
  const ids: number[] = [];
  const updatedAt: Instant[] = [];
  const domains: number[] = [];
  for (const life of livesAt(world, clock)) {
    if (!isActive(life, clock)) continue;
    const lots = allLots(world, life, clock).filter((lot) => lot.start <= clock);
    ids.push(idOf(world, life.index));
    updatedAt.push(Math.max(mergedAt(life, clock), ...lots.map((lot) => changedAt(lot, clock))));
    domains.push(lots.reduce((bits, lot) => (clock < lot.end ? bits | domainBit(lot.domain) : bits), 0));
  }
  return { ids, updatedAt, domains };
}
