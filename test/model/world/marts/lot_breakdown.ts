import type { LotRecord } from '../../../served.js';
import { currencyOf, leastAmounts } from '../../oracle-currency.js';
import type { MartRow, WorldNight } from '../night.js';
import { isHeld, pricesOf } from '../ratios.js';
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

/** The type of a lot's seller. The feed sends a text, an object with an id and a name, or nothing. */
function typeOf({ seller_type: given }: LotRecord): string {
  const [id, name = ''] = typeof given === 'string' ? [null, given] : [given?.id, given?.name];
  if (id === 1) return 'insurance';
  if (id === 2) return 'non_insurance';
  return name.trim().toLowerCase() || 'unknown';
}

/**
 * The group of a seller: insurance by its type or its own mark, otherwise by its other marks, otherwise by its type.
 */
export function groupOf(record: LotRecord): string {
  const type = typeOf(record);
  const { seller } = record;
  const marks: Record<string, unknown> = typeof seller === 'object' && seller !== null ? { ...seller } : {};
  if (type === 'insurance' || marks.is_insurance === true) return 'insurance';
  if (marks.is_rental === true) return 'rental';
  return marks.is_credit_company === true ? 'finance' : type;
}

/** The name and the group of a lot by each subject. */
const SUBJECTS: Readonly<Record<string, (raw: LotRecord) => readonly [name: string, group: string]>> = {
  title: (raw) => [raw.title?.name?.trim() || 'unknown', brandOf(raw)],
  seller_type: (raw) => [typeOf(raw), groupOf(raw)],
};

export function rows(night: WorldNight): MartRow[] {
  const { domain } = names(night);
  const { minimumGroup: least } = night;
  const held = groupBy(attempts(night).filter(isHeld), ({ lot }) => String(lot.id));
  const sources = [...groupBy(night.lots.values(), ({ lot }) => `${lot.domain} ${currencyOf(lot)}`).values()];
  return Object.entries(SUBJECTS).flatMap(([subject, describe]) =>
    sources.flatMap((all) =>
      [...groupBy(all, ({ raw }) => JSON.stringify(describe(raw)))].map(([kind, lots]): MartRow => {
        const [name, group] = JSON.parse(kind);
        const offered = lots.flatMap(({ lot }) => held.get(String(lot.id)) ?? []);
        const sold = offered.filter(({ outcome }) => outcome === 'sold');
        const observed = offered.filter(({ isObserved }) => isObserved);
        const observedSold = sold.filter(({ isObserved }) => isObserved);
        const domainId = lots[0]?.lot.domain ?? 0;
        const currency = lots[0] === undefined ? null : currencyOf(lots[0].lot);
        return {
          subject,
          domain_id: domainId,
          domain_name: domain.get(domainId) ?? null,
          name,
          group_name: group,
          lots: lots.length,
          share: lots.length / all.length,
          observed_since: night.world.spans.find((span) => span.domain === domainId)?.from ?? null,
          known_sold: sold.length,
          lots_offered: observed.length,
          lots_sold: observedSold.length,
          sell_through: observed.length < least ? null : observedSold.length / observed.length,
          priced_lots: pricesOf(sold).length,
          currency,
          price_median: cents(median(pricesOf(sold), leastAmounts(least, currency))),
        };
      }),
    ),
  );
}
