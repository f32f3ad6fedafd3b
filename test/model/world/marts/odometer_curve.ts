import { leastAmounts } from '../../oracle-currency.js';
import type { MartRow, WorldNight } from '../night.js';
import { type PricedLot, pricedLots } from '../priced-lots.js';
import { cents, groupBy, median } from '../statistics.js';
import { names } from './sales.js';

interface Driven {
  readonly sale: PricedLot;
  readonly age: number;
  readonly band: number;
}

export function rows(night: WorldNight): MartRow[] {
  const least = night.minimumGroup;
  const { manufacturer, model } = names(night);
  const sales = pricedLots(night);
  const ratios = ratiosToOthers(sales, least);
  const driven = sales.flatMap((sale): Driven[] => {
    const km = night.lots.get(sale.lot)?.lot.km ?? null;
    if (km === null || sale.year === null) return [];
    const age = Math.min(30, Math.max(0, sale.soldIn - sale.year));
    return [{ sale, age, band: Math.min(400_000, km - (km % 25_000)) }];
  });
  const row = (level: 'all' | 'model', lots: readonly Driven[]): MartRow[] => {
    const [first] = lots;
    if (first === undefined) return [];
    const { sale, age, band } = first;
    const ids =
      level === 'all' ? { maker: null, model: null } : { maker: sale.manufacturer, model: sale.model };
    const prices = lots.map(({ sale: { price } }) => price);
    const ratiosOfLots = lots.flatMap(({ sale: { lot } }) => ratios.get(lot) ?? []);
    return [
      {
        level,
        manufacturer_id: ids.maker,
        manufacturer_name: ids.maker === null ? null : (manufacturer.get(ids.maker) ?? null),
        model_id: ids.model,
        model_name: ids.model === null ? null : (model.get(ids.model) ?? null),
        age_years: age,
        odometer_band_km: band,
        priced_lots: prices.length,
        currency: sale.currency,
        price_median: cents(median(prices, leastAmounts(least, sale.currency))),
        compared_lots: ratiosOfLots.length,
        price_ratio_median: median(ratiosOfLots, least),
      },
    ];
  };
  const all = groupBy(driven, ({ sale, age, band }) => `${age} ${band} ${sale.currency}`);
  const models = groupBy(driven, ({ sale, age, band }) =>
    JSON.stringify([sale.manufacturer, sale.model, age, band, sale.currency]),
  );
  return [
    ...[...all.values()].flatMap((lots) => row('all', lots)),
    ...[...models.values()].flatMap((lots) => row('model', lots)),
  ];
}

/** Each price divided by the median of the other prices of its source, manufacturer, model, year and currency, by lot. */
function ratiosToOthers(sales: readonly PricedLot[], least: number): Map<number, number> {
  const kindOf = (sale: PricedLot) => [sale.domain, sale.manufacturer, sale.model, sale.year, sale.currency];
  const known = sales.filter((sale) => !kindOf(sale).includes(null));
  const groups = groupBy(known, (sale) => kindOf(sale).join(' '));
  return new Map(
    [...groups.values()].flatMap((peers) =>
      peers.flatMap((sale): [number, number][] => {
        const others = peers.filter((peer) => peer !== sale).map(({ price }) => price);
        const middle = median(others, least);
        return middle === null ? [] : [[sale.lot, sale.price / middle]];
      }),
    ),
  );
}
