import { currencyOf } from '../../oracle-currency.js';
import { instantOf, type LotOfNight, type MartRow, type WorldNight } from '../night.js';
import { groupOf as damageOf } from './damage_breakdown.js';
import { brandOf, groupOf as sellerOf } from './lot_breakdown.js';
import { attempts } from './sales.js';

const text = (value: string | null | undefined): string => value?.trim() || 'unknown';
const lowered = (value: string | null | undefined): string | null => value?.trim().toLowerCase() || null;
const known = (key: boolean | null | undefined): string => (key == null ? 'unknown' : key ? 'yes' : 'no');

/** Years since the beginning of the model year. Each month counts from its middle. */
function ageOf(year: number | null | undefined, at: Date): number | null {
  const ahead = at.getUTCFullYear() + 1;
  if (year == null || year < 1940 || year > ahead) return null;
  return Math.max(0, at.getUTCFullYear() - year + (at.getUTCMonth() + 0.5) / 12);
}

const bandOf = (age: number | null): string =>
  age === null
    ? 'unknown'
    : (['0 to 3', '4 to 7', '8 to 12', '13 and more'][[4, 8, 13].filter((from) => age >= from).length] ?? '');

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const leftAt = new Map(
    (await night.rows('lots')).map((row) => [Number(row.lot_id), row.archived_at as number | null]),
  );
  const all = attempts(night);
  const soldAs = new Map(all.filter(({ isTrusted }) => isTrusted).map((sale) => [sale.lot.id, sale]));
  const upcoming = new Map(
    all.filter(({ outcome }) => outcome === 'upcoming').map((next) => [next.lot.id, next]),
  );
  return [...night.lots.values()].map(({ lot, raw, vehicle }: LotOfNight): MartRow => {
    const sale = soldAs.get(lot.id);
    const isAsking = lot.domain === 12;
    const askingPrice =
      isAsking && lot.buyNow !== null && lot.buyNow >= 2 && lot.buyNow <= 5_000_000 ? lot.buyNow : null;
    const created = Math.min(Number(instantOf(raw.created_at) ?? night.now), Number(night.now));
    const at = new Date(
      isAsking
        ? created
        : (sale?.saleDate ?? upcoming.get(lot.id)?.saleDate ?? leftAt.get(lot.id) ?? night.now),
    );
    const currency = currencyOf(lot);
    const buyNow = sale === undefined ? lot.buyNow : sale.basis === 'buy_now' ? sale.amount : sale.buyNow;
    const age = ageOf(vehicle.year, at);
    const isTooLow = age !== null && lot.km !== null && lot.km < 500 * (age - 1);
    const km = age === null || isTooLow ? null : lot.km;
    const country = text(raw.location.country.iso).toUpperCase();
    const status = text(raw.odometer?.status?.name);
    return {
      lot_id: lot.id,
      vehicle_id: lot.vehicle,
      domain_id: lot.domain,
      market: isAsking ? 'asking' : 'auction',
      currency: 'USD',
      is_currency_known: currency !== null,
      is_offered: !lot.archived && sale === undefined,
      price: currency === null ? null : ((sale?.doubt === null ? sale.amount : null) ?? askingPrice),
      priced_at: at.getTime(),
      priced_month: `${at.toISOString().slice(0, 7)}-01`,
      manufacturer_id: vehicle.manufacturer?.id ?? null,
      model_id: vehicle.model?.id ?? null,
      generation_id: vehicle.generation?.id ?? null,
      year: vehicle.year ?? null,
      year_origin: vehicle.origin ?? 'unknown',
      body_type: text(vehicle.body_type?.name),
      sold_by: sale?.basis === 'buy_now' ? 'buy_now' : 'auction',
      buy_now: !isAsking && buyNow !== null && buyNow >= 1 && buyNow <= 5_000_000 ? buyNow : null,
      engine: lowered(vehicle.engine?.name),
      fuel: lowered(vehicle.fuel?.name),
      drive: lowered(vehicle.drive_wheel?.name),
      seller: lowered(typeof raw.seller === 'string' ? raw.seller : raw.seller?.name),
      branch:
        raw.selling_branch?.id == null ? lowered(raw.selling_branch?.name) : String(raw.selling_branch.id),
      damage_main_group: damageOf(text(raw.damage?.main?.name)),
      damage_second_group: damageOf(text(raw.damage?.second?.name)),
      title_brand: brandOf(raw),
      condition: text(raw.condition?.name),
      has_keys: known(raw.keys_available),
      seller_group: sellerOf(raw),
      country,
      state: `${country} ${text(raw.location.state?.code).toUpperCase().replace('UNKNOWN', 'unknown')}`,
      age_years: age,
      age_band: bandOf(age),
      odometer_km: km,
      odometer:
        age === null
          ? 'year unknown'
          : lot.km === null
            ? `${status} unusable`
            : isTooLow
              ? 'implausible'
              : 'usable',
    };
  });
}
