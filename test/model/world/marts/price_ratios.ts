import type { MartRow, WorldNight } from '../night.js';
import { type PricedLot, pricedLots } from '../priced-lots.js';
import { cents, groupBy, median } from '../statistics.js';
import { attempts } from './sales.js';

/** Compares each price with the median of the other prices of its source, manufacturer, model, year and currency. */
export function rows(night: WorldNight): MartRow[] {
  const numbers = new Map(
    attempts(night)
      .filter(({ price }) => price !== null)
      .map(({ lot, attempt }) => [lot.id, attempt]),
  );
  const known = pricedLots(night).filter(
    ({ manufacturer, model, year, currency }) =>
      manufacturer !== null && model !== null && year !== null && currency !== null,
  );
  const nameOf = (lot: PricedLot): string =>
    [lot.domain, lot.manufacturer, lot.model, lot.year, lot.currency].join(' ');
  return [...groupBy(known, nameOf).values()].flatMap((peers) =>
    peers.flatMap((lot): MartRow[] => {
      const others = peers.filter((peer) => peer !== lot).map(({ price }) => price);
      const middle = median(others, night.minimumGroup);
      if (middle === null) return [];
      return [
        {
          lot_id: lot.lot,
          attempt: numbers.get(lot.lot) ?? null,
          domain_id: lot.domain,
          manufacturer_id: lot.manufacturer,
          model_id: lot.model,
          year: lot.year,
          currency: lot.currency,
          price: lot.price,
          other_prices: others.length,
          others_median: cents(middle),
          price_ratio: lot.price / middle,
        },
      ];
    }),
  );
}
