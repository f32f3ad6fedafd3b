import { currencyOf, leastAmounts } from '../../oracle-currency.js';
import type { MartRow, WorldNight } from '../night.js';
import { type PricedLot, pricedLots, ratiosToPeers } from '../priced-lots.js';
import { cents, groupBy, median } from '../statistics.js';
import { names } from './sales.js';

/** What a row counts: an offer or a sale. */
interface Item {
  readonly manufacturer: number | null;
  readonly model: number | null;
  readonly year: number | null;
  readonly currency: string | null;
  readonly sale: PricedLot | null;
}

export function rows(night: WorldNight): MartRow[] {
  const least = night.minimumGroup;
  const { manufacturer, model } = names(night);
  const sales = pricedLots(night);
  const premiums = ratiosToPeers(
    sales.filter(({ isBuyNow }) => isBuyNow),
    least,
    (sale) => [sale.domain, sale.manufacturer, sale.model, sale.year],
    sales.filter(({ isBuyNow }) => !isBuyNow),
  );
  const offers = [...night.lots.values()].flatMap(({ raw, vehicle, lot }): Item[] => {
    const buyNow = raw.buy_now ?? 0;
    const isOffered = raw.domain.id !== 12 && buyNow > 0 && buyNow <= 5_000_000;
    const { manufacturer: maker, model: kind, year } = vehicle;
    return isOffered
      ? [
          {
            manufacturer: maker?.id ?? null,
            model: kind?.id ?? null,
            year: year ?? null,
            currency: currencyOf(lot),
            sale: null,
          },
        ]
      : [];
  });
  const items = [...offers, ...sales.map((sale): Item => ({ ...sale, sale }))];
  const row = (level: 'all' | 'model_year', group: readonly Item[]): MartRow[] => {
    const [first] = group;
    if (first === undefined) return [];
    const named = level === 'model_year';
    const sold = group.flatMap(({ sale }) => sale ?? []);
    const boughtNow = sold.filter(({ isBuyNow }) => isBuyNow);
    const auctioned = sold.filter(({ isBuyNow }) => !isBuyNow);
    const compared = boughtNow.flatMap(({ lot }) => premiums.get(lot) ?? []);
    const middle = (lots: readonly PricedLot[]): number | null =>
      named
        ? cents(
            median(
              lots.map(({ price }) => price),
              leastAmounts(least, first.currency),
            ),
          )
        : null;
    const ratio = median(compared, least);
    return [
      {
        level,
        manufacturer_id: named ? first.manufacturer : null,
        manufacturer_name: named ? (manufacturer.get(first.manufacturer ?? Number.NaN) ?? null) : null,
        model_id: named ? first.model : null,
        model_name: named ? (model.get(first.model ?? Number.NaN) ?? null) : null,
        year: named ? first.year : null,
        offered_lots: group.length - sold.length,
        buy_now_lots: boughtNow.length,
        auction_lots: auctioned.length,
        currency: first.currency,
        buy_now_median: middle(boughtNow),
        auction_median: middle(auctioned),
        compared_lots: compared.length,
        premium_median: ratio === null ? null : ratio - 1,
      },
    ];
  };
  const years = groupBy(items, (item) =>
    JSON.stringify([item.manufacturer, item.model, item.year, item.currency]),
  );
  const all = groupBy(items, ({ currency }) => String(currency));
  return [
    ...[...all.values()].flatMap((group) => row('all', group)),
    ...[...years.values()].flatMap((group) => row('model_year', group)),
  ];
}
