import { currencyOf } from '../../oracle-currency.js';
import type { MartRow, WorldNight } from '../night.js';
import { groupBy } from '../statistics.js';
import { names } from './sales.js';

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const { domain } = names(night);
  // The reasons come from the seed file. Currency and certainty are computed here.
  const rules = await night.rows('currency_rules');
  const reasonOf = (source: number, country: string) =>
    rules.find((rule) => rule.domain_id === source && rule.country_iso === country)?.reason;
  const countryOf = (country: string | null): string => country?.trim().toUpperCase() || 'unknown';
  // Lots that only the archive feed reported have no country.
  const places = groupBy(night.world.lots, (lot) => `${lot.domain} ${countryOf(lot.country)}`);
  const unknown = [...domain.keys()].map((source) => `${source} unknown`);
  return [...new Set([...places.keys(), ...unknown])].map((place): MartRow => {
    const [id = '', country = ''] = place.split(' ');
    const source = Number(id);
    const currency = currencyOf({ domain: source, country });
    const known = source === 12 ? 'inferred' : 'assumed';
    return {
      domain_id: source,
      domain_name: domain.get(source) ?? null,
      country_iso: country,
      currency,
      certainty: currency === null ? 'unknown' : known,
      reason: reasonOf(source, country) ?? reasonOf(source, '*') ?? 'No row of currency_rules speaks of it.',
      lots: places.get(place)?.length ?? 0,
    };
  });
}
