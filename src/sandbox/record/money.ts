import { enumerations } from '../../service/contract/enumerations.js';
import { type Named, named } from '../data/wording.js';
import type { AuctionFacts } from '../world/auction-facts.js';
import type { Car } from '../world/car.js';
import { type Instant, micros } from '../world/instants.js';
import type { LotLife, LotState } from '../world/lot-life.js';
import { lotId, priceId } from '../world/population.js';

const status = (id: number): Named => named(enumerations.lot_status, id);

/** Lot statuses by their meaning (field-notes.md). */
export const statuses = {
  notChecked: status(1),
  notOnSale: status(2),
  sale: status(3),
  onApproval: status(4),
  newAuction: status(5),
  sold: status(6),
  failed: status(7),
  notSold: status(8),
  future: status(9),
  upcoming: status(10),
} as const;

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
  const rest = {
    buyNow: touched ? 500 + (life.index % 80) * 125 : facts.buyNow,
    buyNowAt: facts.buyNow === null ? null : (state.touchedAt ?? life.start),
    timedStart: facts.timed ? 100 + (life.index % 20) * 50 : null,
  };
  if (state.next !== null) return { ...announced(parts), ...rest };
  if (state.done.length > 0) return { ...held(parts), ...rest };
  return { ...quiet(parts), ...rest };
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

function announced({ car, life, state, facts }: Parts): Shown {
  const place = state.done.length;
  const prebid = state.prebidAt === null ? null : (facts.attempts[place]?.prebid ?? null);
  const early = car.quirk === 'early sold' && !facts.timed;
  const first = facts.attempts[place]?.prebid ?? null;
  const shown = facts.timed ? null : early ? first : prebid;
  const waiting = [
    statuses.sale,
    statuses.sale,
    statuses.upcoming,
    statuses.future,
    statuses.newAuction,
  ] as const;
  return {
    // The service can call a lot sold while its auction is still to come, with the bid so far (field-notes.md).
    status: early ? statuses.sold : (waiting[life.index % waiting.length] ?? statuses.sale),
    saleAt: state.next?.saleAt ?? null,
    saleKnownAt: state.next?.knownAt ?? null,
    bid: shown ?? (life.index % 3 === 0 ? 0 : null),
    bidAt: shown === null ? null : (state.prebidAt ?? state.next?.knownAt ?? null),
    finalBid: early ? first : null,
    finalBidAt: early ? (state.next?.knownAt ?? null) : null,
  };
}

function held({ life, state, facts }: Parts): Shown {
  const last = state.done.at(-1);
  const bid = facts.unpriced ? null : (facts.attempts[state.done.length - 1]?.bid ?? null);
  const sold = last?.sold === true;
  const missed = [
    statuses.notSold,
    statuses.notSold,
    statuses.notSold,
    statuses.failed,
    statuses.onApproval,
  ] as const;
  return {
    status: sold ? statuses.sold : (missed[life.index % missed.length] ?? statuses.notSold),
    saleAt: last?.saleAt ?? null,
    saleKnownAt: last?.knownAt ?? null,
    bid: facts.timed ? null : bid,
    bidAt: bid === null || facts.timed ? null : (last?.resultAt ?? null),
    finalBid: sold || life.index % 2 === 0 ? bid : null,
    finalBidAt: (sold || life.index % 2 === 0) && bid !== null ? (last?.resultAt ?? null) : null,
  };
}

function quiet({ life }: Parts): Shown {
  const idle = [
    statuses.sale,
    statuses.sale,
    statuses.sale,
    statuses.notChecked,
    statuses.notOnSale,
  ] as const;
  return { ...nothing, status: idle[life.index % idle.length] ?? statuses.sale };
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
      status: sold ? statuses.sold : statuses.notSold,
    };
  });
  return life.index % 2 === 0 ? entries : entries.sort((a, b) => scattered(a.id) - scattered(b.id));
}

const scattered = (id: number): number => Math.imul(id, 0x9e3779b1) >>> 0;
