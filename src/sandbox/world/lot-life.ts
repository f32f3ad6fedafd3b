import { DAY, HOUR, type Instant, MINUTE, wholeSecond } from './instants.js';
import type { LotPlace } from './population.js';
import { between, chance, type Rng, unit } from './random.js';

interface Attempt {
  /** When the service learned the date. */
  readonly knownAt: Instant;
  readonly saleAt: Instant;
  /** When the service learned the result: hours after the auction. */
  readonly resultAt: Instant;
  /** When a bid before the auction was seen, if one was. */
  readonly prebidAt: Instant | null;
  /** A number from 0 to 1. A buyer wants the lot if the chance to sell is above it. */
  readonly luck: number;
  /** The chance to sell by the plain law, 0 to 1. */
  readonly odds: number;
}

/** Everything that happens to a lot and when, without its prices. */
export interface LotLife extends LotPlace {
  readonly domain: number;
  readonly start: Instant;
  readonly end: Instant;
  readonly attempts: readonly Attempt[];
  /** A small change: a new Buy Now price (sources 1 and 3) or a lower asking price (source 12). */
  readonly touchedAt: Instant | null;
  /** When a second inspection report arrives (source 12). */
  readonly secondReportAt: Instant | null;
}

type Frame = Pick<LotLife, 'index' | 'place' | 'domain' | 'start' | 'end'>;

const AUCTIONED = 0.58;
const SOLD = 0.62;

/** Draws the life of a lot inside its frame. */
export function lotLife(rng: Rng, frame: Frame): LotLife {
  const { domain, start, end } = frame;
  const isListed = domain === 12;
  const touchedAt = chance(rng, isListed ? 0.4 : 0.15) ? moment(rng, start, end - start) : null;
  const attempts = !isListed && chance(rng, AUCTIONED) ? auctions(rng, frame) : [];
  const secondReportAt = isListed && chance(rng, 0.15) ? moment(rng, start, (end - start) / 2) : null;
  return { ...frame, attempts, touchedAt, secondReportAt };
}

const moment = (rng: Rng, start: Instant, span: number): Instant =>
  wholeSecond(start + (0.1 + 0.8 * unit(rng)) * span);

/** How many auctions a lot is meant to have. It has fewer if its life ends before. */
function auctionCount(rng: Rng): number {
  const draw = unit(rng);
  if (draw < 0.72) return 1;
  if (draw < 0.95) return between(rng, 2, 4);
  return draw < 0.992 ? between(rng, 5, 9) : between(rng, 10, 26);
}

/** Days to the next auction: a week or more, or a reschedule to one of the next days. */
function gapDays(rng: Rng, count: number): number {
  const draw = unit(rng);
  if (count >= 10) return draw < 0.6 ? between(rng, 1, 2) : 7;
  if (draw < 0.12) return between(rng, 1, 2);
  return draw < 0.7 ? 7 : between(rng, 2, 3) * 7;
}

function auctions(rng: Rng, frame: Frame): Attempt[] {
  const span = frame.end - frame.start;
  const count = auctionCount(rng);
  const share = count >= 10 ? 0.9 : 0.45 + 0.47 * unit(rng);
  let saleAt = auctionHour(rng, frame.end - share * span);
  let knownAt = Math.max(
    frame.start,
    wholeSecond(saleAt - between(rng, 6, 46) * DAY + between(rng, 0, 720) * MINUTE),
  );
  const attempts: Attempt[] = [];
  for (let place = 0; place < count; place += 1) {
    const resultAt = wholeSecond(saleAt + (0.3 + 9 * unit(rng)) * HOUR);
    const prebid = saleAt - between(rng, 3, 40) * HOUR;
    const wantsPrebid = chance(rng, 0.3);
    const [luck, odds] = [unit(rng), place === count - 1 ? SOLD : 0.12];
    const gap = gapDays(rng, count);
    const pause = chance(rng, 0.8) ? 0 : between(rng, 1, 20) * HOUR;
    if (saleAt < frame.start + HOUR || resultAt >= frame.end) break;
    attempts.push({
      knownAt,
      saleAt,
      resultAt,
      luck,
      odds,
      prebidAt: wantsPrebid && prebid > knownAt ? prebid : null,
    });
    knownAt = resultAt + pause;
    saleAt = auctionHour(rng, saleAt + gap * DAY);
  }
  return attempts;
}

/** A half hour between 13:00 and 20:00 UTC on the day of an instant. */
const auctionHour = (rng: Rng, at: number): Instant =>
  Math.floor(at / DAY) * DAY + 13 * HOUR + between(rng, 0, 14) * 30 * MINUTE;

/** An instant, or null if the clock has not reached it. */
export const reached = (at: Instant | null | undefined, clock: Instant): Instant | null =>
  at != null && at <= clock ? at : null;

export type LotState = Readonly<ReturnType<typeof stateOf>>;

/** The state of a lot at a clock; equal states give equal bytes. */
export function stateOf(lot: LotLife, clock: Instant) {
  const done = lot.attempts.filter((attempt) => attempt.resultAt <= clock);
  const coming = lot.attempts[done.length];
  const next = coming !== undefined && coming.knownAt <= clock ? coming : null;
  const prebidAt = reached(next?.prebidAt, clock);
  const touchedAt = reached(lot.touchedAt, clock);
  const others = [lot.secondReportAt, lot.end].map((at) => reached(at, clock));
  const times = [lot.start, done.at(-1)?.resultAt, next?.knownAt, prebidAt, touchedAt, ...others];
  const updatedAt = Math.max(...times.map((at) => at ?? 0));
  // `done` are the auctions whose result is known, in order. `next` is the announced auction or null.
  return { done, next, prebidAt, touchedAt, archived: lot.end <= clock, updatedAt };
}
