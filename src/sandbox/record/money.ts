import { type Named, named } from '../data/wording.js';
import type { Car } from '../world/car.js';
import type { AuctionFacts } from '../world/facts.js';
import { micros } from '../world/instants.js';
import type { LotLife, LotState } from '../world/lot-life.js';
import { lotId, priceId } from '../world/population.js';

/** A lot at one moment. */
export interface Offer<Facts> {
  readonly car: Car;
  readonly life: LotLife;
  readonly state: LotState;
  readonly facts: Facts;
}

const status = (id: number): Named => named('lot_status', id);

export const SALE = status(3);
const SOLD = status(6);
const NOT_SOLD = status(8);

/**
 * Statuses of lots with an announced auction, an unsold one or none, repeated by frequency
 * (service.md#status-and-price).
 */
const WAITING = [3, 3, 10, 9, 5];
const MISSED = [8, 8, 8, 7, 4];
const IDLE = [3, 3, 3, 1, 2];

const statusAmong = (ids: readonly number[], { index }: LotLife): Named =>
  status(ids[index % ids.length] ?? 3);

/** The members of a lot without an auction. */
export const noAuction = {
  sale_date: null,
  sale_date_updated_at: null,
  bid: null,
  bid_updated_at: null,
  final_bid: null,
  final_bid_updated_at: null,
} as const;

/**
 * Status, dates and amounts of a lot of source 1 or 3 as in the record: from the announced auction, otherwise from the
 * last one, with the Buy Now price. `bidStamp` writes the time of the bid.
 */
export function moneyOf(offer: Offer<AuctionFacts>, bidStamp = micros) {
  const { life, state, facts } = offer;
  const touched = state.touchedAt !== null && facts.buyNow !== null;
  return {
    ...(announced(offer, bidStamp) ??
      held(offer, bidStamp) ?? { ...noAuction, status: statusAmong(IDLE, life) }),
    buy_now: touched ? 500 + (life.index % 80) * 125 : facts.buyNow,
    buy_now_updated_at: facts.buyNow === null ? null : micros(state.touchedAt ?? life.start),
  };
}

function announced({ car, life, state, facts }: Offer<AuctionFacts>, bidStamp: typeof micros) {
  const { next, prebidAt } = state;
  if (next === null) return undefined;
  const early = car.quirk === 'early sold' && !facts.timed;
  const first = facts.attempts[state.done.length]?.prebid ?? null;
  const shown = !facts.timed && (early || prebidAt !== null) ? first : null;
  return {
    // The service can call a lot sold while its auction is still to come, with the bid so far
    // (service.md#status-and-price).
    status: early ? SOLD : statusAmong(WAITING, life),
    sale_date: micros(next.saleAt),
    sale_date_updated_at: micros(next.knownAt),
    bid: shown ?? (life.index % 3 === 0 ? 0 : null),
    bid_updated_at: shown === null ? null : bidStamp(prebidAt ?? next.knownAt),
    final_bid: early ? first : null,
    final_bid_updated_at: early ? micros(next.knownAt) : null,
  };
}

function held({ life, state, facts }: Offer<AuctionFacts>, bidStamp: typeof micros) {
  const last = state.done.at(-1);
  if (last === undefined) return undefined;
  const result = facts.attempts[state.done.length - 1];
  const isSold = result?.isSold === true;
  const bid = facts.unpriced ? null : (result?.bid ?? null);
  const showsFinal = isSold || life.index % 2 === 0;
  return {
    status: isSold ? SOLD : statusAmong(MISSED, life),
    sale_date: micros(last.saleAt),
    sale_date_updated_at: micros(last.knownAt),
    bid: facts.timed ? null : bid,
    bid_updated_at: bid === null || facts.timed ? null : bidStamp(last.resultAt),
    final_bid: showsFinal ? bid : null,
    final_bid_updated_at: showsFinal && bid !== null ? micros(last.resultAt) : null,
  };
}

/** The auctions of a lot. Half of the lots list them unordered. */
export function pricesOf({ life, state, facts }: Offer<AuctionFacts>) {
  if (facts.unpriced) return [];
  const last = state.done.length - 1;
  const entries = state.done.map((attempt, place) => {
    // A lot that is offered again was not sold before.
    const sold = facts.attempts[place]?.isSold === true && place === last && state.next === null;
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
