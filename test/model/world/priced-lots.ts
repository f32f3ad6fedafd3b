import { currencyOf } from '../oracle-currency.js';
import { attempts } from './marts/sales.js';
import type { WorldNight } from './night.js';
import { groupBy, median } from './statistics.js';

/** A lot that was sold for a trusted price, with the facts by which prices are compared. */
export interface PricedLot {
  readonly lot: number;
  readonly domain: number;
  readonly price: number;
  /** Null where it is unknown. */
  readonly currency: string | null;
  readonly isBuyNow: boolean;
  /** Calendar year (UTC) of the sale. */
  readonly soldIn: number;
  readonly manufacturer: number | null;
  readonly model: number | null;
  readonly year: number | null;
  /** Code of the country of the lot, as the feed writes it. */
  readonly country: string | null;
}

/** The lots of a night that have a trusted price. */
export function pricedLots(night: WorldNight): readonly PricedLot[] {
  return attempts(night).flatMap(({ lot, price, basis, saleDate }): PricedLot[] => {
    if (price === null) return [];
    const vehicle = night.vehicles.get(lot.vehicle);
    return [
      {
        lot: lot.id,
        domain: lot.domain,
        price,
        currency: currencyOf(lot),
        isBuyNow: basis === 'buy_now',
        soldIn: new Date(saleDate).getUTCFullYear(),
        manufacturer: vehicle?.manufacturer?.id ?? null,
        model: vehicle?.model?.id ?? null,
        year: vehicle?.year ?? null,
        country: lot.country,
      },
    ];
  });
}

/**
 * Each price of a known currency divided by the median of its peers in that currency, by lot.
 * @param peersOf names the group of a lot; null for a lot without peers
 * @param measure lots whose prices make the medians; all lots by default
 */
export function ratiosToPeers(
  lots: readonly PricedLot[],
  least: number,
  peersOf: (lot: PricedLot) => readonly (string | number | null)[],
  measure: readonly PricedLot[] = lots,
): Map<number, number> {
  const named = (lot: PricedLot) => [...peersOf(lot), lot.currency];
  const nameOf = (lot: PricedLot): string => JSON.stringify(named(lot));
  const medians = new Map<string, number | null>();
  for (const [name, peers] of groupBy(measure, nameOf))
    medians.set(
      name,
      median(
        peers.map(({ price }) => price),
        least,
      ),
    );
  const ratios = new Map<number, number>();
  for (const lot of lots) {
    const middle = medians.get(nameOf(lot)) ?? null;
    if (middle !== null && !named(lot).includes(null)) ratios.set(lot.lot, lot.price / middle);
  }
  return ratios;
}
