import { livesAt } from '../world/feed.js';
import { DAY, type Instant } from '../world/instants.js';
import { lotNumber } from '../world/keys.js';
import type { Life } from '../world/life.js';
import { ARCHIVE_DAYS, type Population, population } from '../world/population.js';
import { hash, Salt } from '../world/random.js';
import { perWorld } from './per-world.js';

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
  const base = population(world.seed, world.vehicles);
  const now = world.clock.getTime();
  const found: Duplicate[] = [];
  for (const life of livesAt(base, now)) if (life.domain === 12) found.push(...ofLife(base, life, now));
  return found.sort((a, b) => a.addedAt - b.addedAt || a.duplicate - b.duplicate);
});

function ofLife(base: Population, life: Life, now: Instant): Duplicate[] {
  const [first, ...others] = life.lots;
  if (first === undefined) return [];
  const original = Number(lotNumber(first));
  const later = others
    .filter((lot) => lot.start <= now && now < lot.end + ARCHIVE_DAYS * DAY)
    .map((lot) => ({ original, duplicate: Number(lotNumber(lot)), addedAt: lot.start }));
  const draw = hash(base.seed, life.index, Salt.duplicate);
  const addedAt = life.birth + (draw % 86_400) * 1000;
  const dropped =
    draw % SHARE === 0 && addedAt <= now
      ? [{ original, duplicate: original + DROPPED_NUMBERS, addedAt }]
      : [];
  return [...later, ...dropped];
}
