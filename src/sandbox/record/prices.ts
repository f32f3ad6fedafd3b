import type { AuctionFacts } from '../world/auction-facts.js';
import { micros } from '../world/instants.js';
import { lotId, priceId } from '../world/keys.js';
import type { LotLife, LotState } from '../world/lot-life.js';
import { type Status, statuses } from './money.js';

/** One entry of `prices` as the wire writes it (service.md). */
export interface PriceEntry {
  readonly id: number;
  readonly lot_id: number;
  readonly bid: number;
  readonly final_bid_updated_at: string;
  readonly buy_now_price: number | null;
  readonly sale_date: string;
  readonly status: Status;
}

interface Parts {
  readonly life: LotLife;
  readonly state: LotState;
  readonly facts: AuctionFacts;
}

/** The auctions that a lot went through, for half of the lots in no order. */
export function pricesOf({ life, state, facts }: Parts): PriceEntry[] {
  if (facts.unpriced) return [];
  const last = state.done.length - 1;
  const entries = state.done.map((attempt, place): PriceEntry => {
    // A relisting turns an earlier sale into none.
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
