import { currencyOf, leastAmounts } from '../../oracle-currency.js';
import type { MartRow, WorldNight } from '../night.js';
import { pricedLots } from '../priced-lots.js';
import { cents, groupBy, median } from '../statistics.js';
import { names } from './sales.js';

const bands = ['0.00-0.25', '0.25-0.50', '0.50-0.75', '0.75-1.00', '1.00+'];

export function rows(night: WorldNight): MartRow[] {
  const least = night.minimumGroup;
  const { domain } = names(night);
  const prices = new Map(pricedLots(night).map(({ lot, price }) => [lot, price]));
  const estimated = night.world.lots.flatMap(({ id, domain: source, country, repair, before }) => {
    const isPossible =
      repair !== null &&
      before !== null &&
      repair >= 0 &&
      before >= 1 &&
      Math.max(repair, before) <= 5_000_000;
    if (source === 12 || !isPossible) return [];
    const band = bands[Math.min(4, Math.floor((repair / before) * 4))] ?? '';
    return [
      {
        source,
        currency: currencyOf({ domain: source, country }),
        band,
        repair,
        before,
        price: prices.get(id) ?? null,
      },
    ];
  });
  const groups = groupBy(estimated, ({ source, band, currency }) => `${source} ${band} ${currency}`);
  return [...groups.values()].flatMap((lots): MartRow[] => {
    const [first] = lots;
    if (first === undefined) return [];
    const sold = lots.flatMap(({ price, ...lot }) => (price === null ? [] : [{ ...lot, price }]));
    const enough = leastAmounts(least, first.currency);
    const middle = (values: readonly number[]): number | null => median(values, enough);
    const margins = sold.map(({ price, repair, before }) => before - price - repair);
    const below = margins.filter((margin) => margin > 0).length;
    return [
      {
        domain_id: first.source,
        domain_name: domain.get(first.source) ?? null,
        repair_band: first.band,
        lots: lots.length,
        priced_lots: sold.length,
        currency: first.currency,
        repair_median: cents(middle(lots.map(({ repair }) => repair))),
        pre_accident_median: cents(middle(lots.map(({ before }) => before))),
        price_median: cents(middle(sold.map(({ price }) => price))),
        price_share_median: middle(sold.map(({ price, before }) => price / before)),
        total_share_median: middle(sold.map(({ price, repair, before }) => (price + repair) / before)),
        margin_median: cents(middle(margins)),
        below_value_lots: below,
        below_value_share: sold.length < enough ? null : below / sold.length,
      },
    ];
  });
}
