import { enumerations } from '../../service/contract/enumerations.js';
import { type Named, named } from '../data/wording.js';
import type { AuctionFacts } from '../world/auction-facts.js';
import type { Car } from '../world/car.js';
import { type Instant, micros } from '../world/instants.js';
import type { LotLife, LotState } from '../world/lot-life.js';
import { lotId, priceId } from '../world/population.js';

/** A lot status by its id. */
const status = (id: number): Named => named(enumerations.lot_status, id);

export const SALE = status(3);
const SOLD = status(6);
const NOT_SOLD = status(8);

/** Statuses by what a lot shows of its auctions, in the shares in which they are seen (field-notes.md). */
const WAITING = [3, 3, 10, 9, 5];
const MISSED = [8, 8, 8, 7, 4];
const IDLE = [3, 3, 3, 1, 2];

const oneOf = (ids: readonly number[], { index }: LotLife): Named => status(ids[index % ids.length] ?? 3);

/** Status, dates and amounts of an auction lot at one moment. */
export interface Money {
  readonly status: Named;
  readonly saleAt: Instant | null;
  readonly saleKnownAt: Instant | null;
  readonly bid: number | null;
  readonly bidAt: Instant | null;
  readonly finalBid: number | null;
  readonly finalBidAt: Instant | null;
  readonly buyNow: number | null;
  readonly buyNowAt: Instant | null;
  readonly timedStart: number | null;
}

/** A lot of source 1 or 3 at one moment. */
interface Parts {
  readonly car: Car;
  readonly life: LotLife;
  readonly state: LotState;
  readonly facts: AuctionFacts;
}

/** What a lot shows of its auctions: the announced one, else the last one, else nothing. */
export function moneyOf(parts: Parts): Money {
  const { life, state, facts } = parts;
  const touched = state.touches > 0 && facts.buyNow !== null;
  return {
    ...(announced(parts) ?? held(parts) ?? { ...nothing, status: oneOf(IDLE, life) }),
    buyNow: touched ? 500 + (life.index % 80) * 125 : facts.buyNow,
    buyNowAt: facts.buyNow === null ? null : (state.touchedAt ?? life.start),
    timedStart: facts.timed ? 100 + (life.index % 20) * 50 : null,
  };
}

type Shown = Omit<Money, 'buyNow' | 'buyNowAt' | 'timedStart'>;

/** A lot that shows no auction. */
export const nothing = {
  saleAt: null,
  saleKnownAt: null,
  bid: null,
  bidAt: null,
  finalBid: null,
  finalBidAt: null,
} as const;

function announced({ car, life, state, facts }: Parts): Shown | undefined {
  const { next, prebidAt } = state;
  if (next === null) return undefined;
  const early = car.quirk === 'early sold' && !facts.timed;
  const first = facts.attempts[state.done.length]?.prebid ?? null;
  const shown = !facts.timed && (early || prebidAt !== null) ? first : null;
  return {
    // The service can call a lot sold while its auction is still to come, with the bid so far (field-notes.md).
    status: early ? SOLD : oneOf(WAITING, life),
    saleAt: next.saleAt,
    saleKnownAt: next.knownAt,
    bid: shown ?? (life.index % 3 === 0 ? 0 : null),
    bidAt: shown === null ? null : (prebidAt ?? next.knownAt),
    finalBid: early ? first : null,
    finalBidAt: early ? next.knownAt : null,
  };
}

function held({ life, state, facts }: Parts): Shown | undefined {
  const last = state.done.at(-1);
  if (last === undefined) return undefined;
  const bid = facts.unpriced ? null : (facts.attempts[state.done.length - 1]?.bid ?? null);
  const tellsFinal = last.sold || life.index % 2 === 0;
  return {
    status: last.sold ? SOLD : oneOf(MISSED, life),
    saleAt: last.saleAt,
    saleKnownAt: last.knownAt,
    bid: facts.timed ? null : bid,
    bidAt: bid === null || facts.timed ? null : last.resultAt,
    finalBid: tellsFinal ? bid : null,
    finalBidAt: tellsFinal && bid !== null ? last.resultAt : null,
  };
}

/** The auctions of a lot. Half of the lots list them in no order. */
export function pricesOf({ life, state, facts }: Omit<Parts, 'car'>) {
  if (facts.unpriced) return [];
  const last = state.done.length - 1;
  const entries = state.done.map((attempt, place) => {
    // A lot that is offered again was not sold before.
    const sold = attempt.sold && place === last && state.next === null;
    return {
      id: priceId(life, place),
      lot_id: lotId(life),
      bid: facts.attempts[place]?.bid ?? 0,
      final_bid_updated_at: micros(attempt.resultAt),
      buy_now_price: facts.buyNow,
      sale_date: micros(attempt.saleAt),
      status: sold ? SOLD : NOT_SOLD,
    };
  });
  return life.index % 2 === 0 ? entries : entries.sort((a, b) => scattered(a.id) - scattered(b.id));
}

const scattered = (id: number): number => Math.imul(id, 0x9e3779b1) >>> 0;
