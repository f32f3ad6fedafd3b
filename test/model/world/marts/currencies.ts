import { currencyOf } from '../../oracle-currency.js';
import type { MartRow, WorldNight } from '../night.js';
import { groupBy } from '../statistics.js';
import { names } from './sales.js';

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const { domain } = names(night);
  // Texts are the file's own; what it has to say is not taken from it.
  const rules = await night.rows('currency_rules');
  const reasonOf = (source: number, country: string) =>
    rules.find((rule) => rule.domain_id === source && rule.country_iso === country)?.reason;
  const countryOf = (country: string | null): string => country?.trim().toUpperCase() || 'unknown';
  const places = groupBy(night.world.lots, (lot) => `${lot.domain} ${countryOf(lot.country)}`);
  return [...places.values()].flatMap((lots): MartRow[] => {
    const [first] = lots;
    if (first === undefined) return [];
    const currency = currencyOf(first);
    const country = countryOf(first.country);
    const known = first.domain === 12 ? 'inferred' : 'assumed';
    return [
      {
        domain_id: first.domain,
        domain_name: domain.get(first.domain) ?? null,
        country_iso: country,
        currency,
        certainty: currency === null ? 'unknown' : known,
        reason:
          reasonOf(first.domain, country) ??
          reasonOf(first.domain, '*') ??
          'No row of currency_rules speaks of it.',
        lots: lots.length,
      },
    ];
  });
}
