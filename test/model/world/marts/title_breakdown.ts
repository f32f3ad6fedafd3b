import type { MartRow, WorldNight } from '../night.js';
import { pricesOf, ratiosToOthers } from '../ratios.js';
import { cents, groupBy, median } from '../statistics.js';
import { attempts, names } from './sales.js';

export function rows(night: WorldNight): MartRow[] {
  const { domain } = names(night);
  const { minimumGroup: least } = night;
  const sales = attempts(night).filter(({ outcome }) => outcome === 'sold');
  const saleOf = new Map(sales.map((attempt) => [attempt.lot.id, attempt]));
  const ratiosOf = ratiosToOthers(night, sales);
  const sources = groupBy(night.lots.values(), ({ lot }) => String(lot.domain));
  return [...sources].flatMap(([domainId, all]) =>
    [...groupBy(all, ({ raw }) => raw.title?.name?.trim() || 'unknown')].map(([title, lots]): MartRow => {
      const sold = lots.flatMap(({ lot }) => saleOf.get(lot.id) ?? []);
      const ratios = ratiosOf(sold);
      return {
        domain_id: Number(domainId),
        domain_name: domain.get(Number(domainId)) ?? null,
        title_name: title,
        lots: lots.length,
        share: lots.length / all.length,
        lots_sold: sold.length,
        priced_lots: pricesOf(sold).length,
        currency: 'USD',
        price_median: cents(median(pricesOf(sold), least)),
        compared_lots: ratios.length,
        price_ratio_median: median(ratios, least),
      };
    }),
  );
}
