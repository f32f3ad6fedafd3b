import { moneyOf, statuses } from '../record/money.js';
import { auctionFacts } from '../world/auction-facts.js';
import type { Car } from '../world/car.js';
import type { Instant } from '../world/instants.js';
import { lotNumber } from '../world/keys.js';
import type { Life } from '../world/life.js';
import { askingPrice, listingFacts } from '../world/listing-facts.js';
import { type LotLife, stateOf } from '../world/lot-life.js';
import type { Population } from '../world/population.js';

/** What filters look at in a lot; null where its record shows nothing. */
export interface LotRow {
  readonly domain: number;
  readonly number: string;
  readonly status: number;
  readonly saleAt: Instant | null;
  readonly bid: number | null;
  readonly buyNow: number | null;
  readonly km: number;
  readonly mi: number;
  /** Names of the main and the second damage. */
  readonly damages: readonly string[];
  readonly title: string | null;
  readonly condition: number;
  /** ISO code, lower case. */
  readonly country: string;
  readonly state: string | null;
}

/** The row of a lot at a clock. */
export function lotRow(world: Population, car: Car, life: Life, lot: LotLife, clock: Instant): LotRow {
  const state = stateOf(lot, clock);
  const head = { domain: lot.domain, number: lotNumber(lot) };
  if (lot.domain === 12) {
    const facts = listingFacts(world, car, lot, life.birth);
    return {
      ...head,
      ...unsold,
      buyNow: askingPrice(facts, state.touches),
      km: car.km,
      mi: Math.round(car.km / KM_A_MILE),
      country: facts.place.country.iso,
    };
  }
  const facts = auctionFacts(world, car, lot);
  const money = moneyOf({ car, life: lot, state, facts });
  // An abridged record names the state even where a full one leaves it out.
  const hidden = facts.unknown.state && car.shape !== 'abridged';
  return {
    ...head,
    status: money.status.id,
    saleAt: money.saleAt,
    bid: money.bid,
    buyNow: money.buyNow,
    km: facts.odometer.km,
    mi: facts.odometer.mi,
    damages: [facts.damage, facts.secondDamage].flatMap((damage) => damage?.name ?? []),
    title: facts.title?.name ?? null,
    condition: facts.condition[0],
    country: facts.place.country.iso,
    state: hidden ? null : (facts.place.state?.code.toLowerCase() ?? null),
  };
}

const KM_A_MILE = 1.609344;

/** What every listing of source 12 shows: it runs, and has neither auctions nor papers. */
const unsold = {
  status: statuses.sale.id,
  saleAt: null,
  bid: null,
  damages: [],
  title: null,
  condition: 0,
  state: null,
} as const;
