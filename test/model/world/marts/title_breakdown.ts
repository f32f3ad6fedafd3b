import type { LotRecord } from '../../../served.js';
import { currencyOf, leastAmounts } from '../../oracle-currency.js';
import type { MartRow, WorldNight } from '../night.js';
import { pricesOf, ratiosToOthers } from '../ratios.js';
import { cents, groupBy, median } from '../statistics.js';
import { attempts, names } from './sales.js';

/** Brands with patterns for titles. Rebuilt comes first, because the word salvage may follow it. */
const BRANDS: readonly (readonly [string, RegExp])[] = [
  ['non_repairable', /non-repairable|destruction/i],
  ['parts_only', /parts only/i],
  ['rebuilt', /rebuilt|restored/i],
  ['salvage', /salvage/i],
  ['clean', /clean|certificate of title/i],
];

export function brandOf({
  title,
  detailed_title: detailed,
}: Pick<LotRecord, 'title' | 'detailed_title'>): string {
  const named = [detailed?.name, title?.name].map(
    (name) => BRANDS.find(([, words]) => words.test(name ?? ''))?.[0],
  );
  return named.find((brand) => brand !== undefined) ?? 'unknown';
}

export function rows(night: WorldNight): MartRow[] {
  const { domain } = names(night);
  const { minimumGroup: least } = night;
  const sales = attempts(night).filter(({ outcome }) => outcome === 'sold');
  const saleOf = new Map(sales.map((attempt) => [attempt.lot.id, attempt]));
  const ratiosOf = ratiosToOthers(night, sales);
  const sources = groupBy(night.lots.values(), ({ lot }) => `${lot.domain} ${currencyOf(lot)}`);
  return [...sources.values()].flatMap((all) =>
    [...groupBy(all, ({ raw }) => `${brandOf(raw)} ${raw.title?.name?.trim() || 'unknown'}`)].map(
      ([kind, lots]): MartRow => {
        const [brand = '', title] = kind.split(/ (.*)/, 2);
        const sold = lots.flatMap(({ lot }) => saleOf.get(lot.id) ?? []);
        const ratios = ratiosOf(sold);
        const domainId = lots[0]?.lot.domain ?? 0;
        const currency = lots[0] === undefined ? null : currencyOf(lots[0].lot);
        return {
          domain_id: domainId,
          domain_name: domain.get(domainId) ?? null,
          title_name: title ?? '',
          title_brand: brand,
          lots: lots.length,
          share: lots.length / all.length,
          lots_sold: sold.length,
          priced_lots: pricesOf(sold).length,
          currency,
          price_median: cents(median(pricesOf(sold), leastAmounts(least, currency))),
          compared_lots: ratios.length,
          price_ratio_median: median(ratios, least),
        };
      },
    ),
  );
}
