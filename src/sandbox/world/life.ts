import { DAY, type Instant, wholeSecond } from './instants.js';
import { type LotLife, lotLife, reached, stateOf } from './lot-life.js';
import {
  ARCHIVE_DAYS,
  birthOf,
  idOf,
  indexOf,
  indexRange,
  type LotPlace,
  lifeDays,
  MAX_LIFE_DAYS,
  type Moment,
  type Population,
} from './population.js';
import { below, between, byWeight, chance, hash, pick, type Rng, Salt, stream, unit } from './random.js';

/** The whole life of a vehicle: nothing in it depends on the clock. */
export interface Life {
  readonly index: number;
  readonly birth: Instant;
  /** When the vehicle leaves the feed. */
  readonly end: Instant;
  /** Source of the first lot. */
  readonly domain: number;
  /** Lots of the vehicle, without those of a vehicle that is merged into it. */
  readonly lots: readonly LotLife[];
  /** The vehicle that this one is merged into, and when. */
  readonly mergedInto: Readonly<{ index: number; at: Instant }> | null;
  /** The vehicle that is merged into this one, and when. */
  readonly absorbs: Life['mergedInto'];
}

/** One pair of vehicles is merged in each block of this many. */
const MERGE_BLOCK = 60;
const SHARE_OF_SEVERAL_LOTS = 0.062;

const domains = byWeight([1, 3, 12], (domain) => (domain === 12 ? 10 : 45));
const lotCounts = byWeight([2, 3, 4, 5, 6, 8, 11, 14], (count) => (count === 2 ? 60 : 40 / count));

/** The life of one vehicle, computed from the seed and its index alone. */
function lifeOf(world: Population, index: number): Life {
  const own = ownLife(world, index);
  const pair = pairOf(world, index);
  if (pair === null) return own;
  return pair.kept === index
    ? { ...own, end: Math.max(own.end, pair.end), absorbs: { index: pair.gone, at: pair.at } }
    : { ...own, end: Math.min(own.end, pair.at), mergedInto: { index: pair.kept, at: pair.at } };
}

/** The life of the vehicle with an id, or undefined if no vehicle has it. */
export function lifeOfId(world: Population, id: number): Life | undefined {
  const index = indexOf(world, id);
  return index === undefined ? undefined : lifeOf(world, index);
}

/** A lot and the vehicle that lists it; undefined before the lot appears and from a month after its archiving. */
export function listedLot(world: Moment, { index, place }: LotPlace) {
  if (index < 0) return undefined;
  const own = lifeOf(world, index);
  const lot = own.lots[place];
  if (lot === undefined || !isListed(lot, world.now)) return undefined;
  const life = own.mergedInto !== null && isGone(own, world.now) ? lifeOf(world, own.mergedInto.index) : own;
  return { life, lot };
}

/** The life that decides the car of a vehicle: its own, or the life of the vehicle that it is merged into. */
export const carLife = (world: Population, life: Life): Life =>
  life.mergedInto === null ? life : ownLife(world, life.mergedInto.index);

function ownLife(world: Population, index: number): Life {
  const birth = birthOf(world, index);
  const end = wholeSecond(birth + lifeDays(world, index) * DAY);
  const rng = stream(world.seed, index, Salt.life);
  const domain = pick(rng, domains);
  const first = lotLife(rng, { index, place: 0, domain, start: birth, end });
  const lots = chance(rng, SHARE_OF_SEVERAL_LOTS) ? [first, ...laterLots(rng, first)] : [first];
  return { index, birth, end, domain, lots, mergedInto: null, absorbs: null };
}

/** Further lots of a vehicle. Some are there from the start, some are archived before the vehicle. */
function laterLots(rng: Rng, first: LotLife): LotLife[] {
  const span = first.end - first.start;
  return Array.from({ length: pick(rng, lotCounts) - 1 }, (_, place) => {
    const start = first.start + (chance(rng, 0.6) ? 0 : Math.floor(unit(rng) * span * 0.7));
    const end = chance(rng, 0.5)
      ? first.end
      : start + Math.floor((0.25 + 0.7 * unit(rng)) * (first.end - start));
    const moved = first.domain === 12 ? first.domain : 4 - first.domain;
    const domain = chance(rng, 0.4) ? moved : first.domain;
    return lotLife(rng, {
      index: first.index,
      place: place + 1,
      domain,
      start: wholeSecond(start),
      end: wholeSecond(end),
    });
  });
}

/** The merge of a vehicle with another one of its block, with the end of the absorbed one; null if there is none. */
function pairOf(world: Population, index: number) {
  const block = Math.floor(index / MERGE_BLOCK);
  const kept = block * MERGE_BLOCK + (hash(world.seed, block, Salt.pair) % (MERGE_BLOCK - 20));
  const gone = kept + 1 + (hash(world.seed, block, Salt.pair + 100) % 12);
  if (index !== kept && index !== gone) return null;
  const rng = stream(world.seed, block, Salt.pair);
  const birth = birthOf(world, gone);
  const at = birth + between(rng, 2, 25) * DAY + below(rng, 86_400) * 1000;
  const lives = [ownLife(world, kept), ownLife(world, gone)] as const;
  const [keptLife, goneLife] = lives;
  const isSimple = lives.every((life) => life.lots.length === 1 && life.domain !== 12 && at < life.end);
  if (!isSimple || goneLife.end > keptLife.birth + MAX_LIFE_DAYS * DAY) return null;
  return { kept, gone, at, end: goneLife.end };
}

/** Whether a lot has appeared and was not archived more than a month ago. */
export const isListed = (lot: LotLife, clock: Instant): boolean =>
  lot.start <= clock && clock < lot.end + ARCHIVE_DAYS * DAY;

/** Lots that a vehicle lists. */
export const seenLots = (world: Moment, life: Life): LotLife[] =>
  allLots(world, life).filter((lot) => isListed(lot, world.now));

/** Lots of a vehicle, with those of a vehicle that was merged into it. */
export function allLots(world: Moment, life: Life): readonly LotLife[] {
  if (life.absorbs === null || world.now < life.absorbs.at) return life.lots;
  return [...life.lots, ...ownLife(world, life.absorbs.index).lots];
}

/** Whether a vehicle is in the feed. */
export const isActive = (life: Life, clock: Instant): boolean => life.birth <= clock && clock < life.end;

/** Sources as the bits of one number. */
export const domainBits = (domains: readonly number[]): number =>
  domains.reduce((bits, domain) => bits | (1 << domain), 0);

/** Lives that are visible, as active or archived, ascending. */
export function* visibleLives(world: Moment): Generator<Life> {
  const { now } = world;
  const [first, last] = indexRange(world);
  for (let index = first; index <= last; index += 1) {
    const life = lifeOf(world, index);
    if (life.birth <= now && now < life.end + ARCHIVE_DAYS * DAY) yield life;
  }
}

/** Lives of the vehicles in the feed, ascending. */
export function* activeLives(world: Moment): Generator<Life> {
  for (const life of visibleLives(world)) if (isActive(life, world.now)) yield life;
}

/** Whether a vehicle was merged into another one. */
export const isGone = (life: Life, clock: Instant): boolean =>
  life.mergedInto !== null && life.mergedInto.at <= clock;

/** When a lot last changed its vehicle's record. Leaving the record is a change, too. */
const changedAt = (lot: LotLife, clock: Instant): Instant =>
  reached(lot.end + ARCHIVE_DAYS * DAY, clock) ?? stateOf(lot, clock).updatedAt;

/**
 * The vehicles in the feed, ascending by id, in parallel arrays: ids; when the record last changed (the newest change of
 * a lot, a lot that came or went, or a merge); sources of the lots that are not archived, as bits.
 */
export function feedOf(world: Moment) {
  const { now } = world;
  const ids: number[] = [];
  const updatedAt: Instant[] = [];
  const domains: number[] = [];
  for (const life of activeLives(world)) {
    const lots = allLots(world, life).filter((lot) => lot.start <= now);
    ids.push(idOf(world, life.index));
    const mergedAt = reached(life.absorbs?.at, now) ?? 0;
    updatedAt.push(Math.max(mergedAt, ...lots.map((lot) => changedAt(lot, now))));
    domains.push(domainBits(lots.filter((lot) => now < lot.end).map((lot) => lot.domain)));
  }
  return { ids, updatedAt, domains };
}
