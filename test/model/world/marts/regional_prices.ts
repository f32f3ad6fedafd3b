import type { LotRecord } from '../../../served.js';
import { currencyOf, leastAmounts } from '../../oracle-currency.js';
import type { MartRow, WorldNight } from '../night.js';
import { type PricedLot, pricedLots, ratiosToPeers } from '../priced-lots.js';
import { cents, groupBy, median, percentile } from '../statistics.js';
import { attempts } from './sales.js';

/** The place of a lot, as the mart names it. */
interface Place {
  readonly lot: number;
  readonly country: string | null;
  readonly state: string | null;
  readonly city: number | null;
  readonly currency: string | null;
  readonly raw: LotRecord;
}

const text = (value: unknown): string | null => (typeof value === 'string' && value.trim()) || null;

const placeOf = (lot: number, raw: LotRecord): Place => ({
  lot,
  currency: currencyOf({ domain: raw.domain.id, country: raw.location.country.iso ?? null }),
  country: text(raw.location.country.iso)?.toUpperCase() ?? null,
  state: text(raw.location.state?.code)?.toUpperCase() ?? null,
  city: raw.location.city.id ?? null,
  raw,
});

/** The alphabetically last name that any of the lots gives. */
function nameOf(places: readonly Place[], read: (raw: LotRecord) => unknown): string | null {
  const names = places.flatMap(({ raw }) => text(read(raw)) ?? []);
  return names.sort().at(-1) ?? null;
}

function meanOf(places: readonly Place[], member: 'latitude' | 'longitude'): number | null {
  const known = places.flatMap(({ raw }): number[] => {
    const { latitude, longitude } = raw.location;
    if (typeof latitude !== 'number' || typeof longitude !== 'number') return [];
    return [member === 'latitude' ? latitude : longitude];
  });
  if (known.length === 0) return null;
  const mean = known.reduce((sum, degrees) => sum + degrees, 0) / known.length;
  return Math.round(mean * 10_000) / 10_000;
}

export function rows(night: WorldNight): MartRow[] {
  const least = night.minimumGroup;
  const places = [...night.lots].flatMap(([lot, { raw }]) =>
    raw.domain.id === 12 ? [] : [placeOf(lot, raw)],
  );
  const sold = new Set(attempts(night).flatMap(({ lot, outcome }) => (outcome === 'sold' ? [lot.id] : [])));
  const priced = new Map<number, PricedLot>(pricedLots(night).map((lot) => [lot.lot, lot]));
  const ratios = ratiosToPeers([...priced.values()], least, (lot) => [
    text(lot.country)?.toUpperCase() ?? null,
    lot.manufacturer,
    lot.model,
    lot.year,
  ]);
  const inState = groupBy(places, ({ country, state }) => JSON.stringify([country, state]));
  const inCity = groupBy(places, ({ city }) => String(city));
  const rowsOf = (level: string, groups: Map<string, Place[]>): MartRow[] =>
    [...groups.values()].flatMap((group): MartRow[] => {
      const [first] = group;
      if (first === undefined) return [];
      const { country, state, currency } = first;
      const city = level === 'city' ? first.city : null;
      const prices = group.flatMap(({ lot }) => priced.get(lot)?.price ?? []);
      const compared = group.flatMap(({ lot }) => ratios.get(lot) ?? []);
      const stateLots = inState.get(JSON.stringify([country, state])) ?? [];
      return [
        {
          level,
          country_iso: country,
          state_code: state,
          state_name: state === null ? null : nameOf(stateLots, (raw) => raw.location.state?.name),
          city_id: city,
          city_name:
            city === null ? null : nameOf(inCity.get(String(city)) ?? [], (raw) => raw.location.city.name),
          latitude: meanOf(group, 'latitude'),
          longitude: meanOf(group, 'longitude'),
          lots: group.length,
          lots_sold: group.filter(({ lot }) => sold.has(lot)).length,
          priced_lots: prices.length,
          currency,
          price_median: cents(median(prices, leastAmounts(least, currency))),
          compared_lots: compared.length,
          price_ratio_median: median(compared, least),
          price_ratio_p25: percentile(compared, 0.25, least),
          price_ratio_p75: percentile(compared, 0.75, least),
        },
      ];
    });
  const states = groupBy(places, ({ country, state, currency }) =>
    JSON.stringify([country, state, currency]),
  );
  const cities = groupBy(places, ({ country, state, city, currency }) =>
    JSON.stringify([country, state, city, currency]),
  );
  return [...rowsOf('state', states), ...rowsOf('city', cities)];
}
