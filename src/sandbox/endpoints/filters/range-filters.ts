import type { LotRow } from '../../lookup/lot-row.js';
import { flag, integer } from '../parameter.js';
import { type Filter, lotFilter, lotSwitch } from './condition.js';

/** `buy_now: 0` means none (field-notes.md). */
const buyNowOf = (lot: LotRow): number | null => (lot.buyNow === 0 ? null : lot.buyNow);

const atLeast = (what: string, figureOf: (lot: LotRow) => number | null): Filter =>
  lotFilter(integer(`${what}, at least`), (lot, low) => {
    const value = figureOf(lot);
    return value !== null && value >= low;
  });

const atMost = (what: string, figureOf: (lot: LotRow) => number | null): Filter =>
  lotFilter(integer(`${what}, at most`), (lot, high) => {
    const value = figureOf(lot);
    return value !== null && value <= high;
  });

/** Filters on figures of a lot, bounds included (service.md, `/cars`). */
export const rangeFilters = {
  buy_now: lotSwitch(flag('1 keeps to lots with a Buy Now price'), (lot) => buyNowOf(lot) !== null),
  odometer_from_km: atLeast('odometer in km', (lot) => lot.km),
  odometer_to_km: atMost('odometer in km', (lot) => lot.km),
  odometer_from_mi: atLeast('odometer in miles', (lot) => lot.mi),
  odometer_to_mi: atMost('odometer in miles', (lot) => lot.mi),
  buy_now_price_from: atLeast('Buy Now price', buyNowOf),
  buy_now_price_to: atMost('Buy Now price', buyNowOf),
  bid_price_from: atLeast('current bid', (lot) => lot.bid),
  bid_price_to: atMost('current bid', (lot) => lot.bid),
} as const satisfies Record<string, Filter>;
