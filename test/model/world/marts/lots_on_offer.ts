import type { MartRow, WorldNight } from '../night.js';
import { inspectedLots } from './accident_discount.js';
import { names } from './sales.js';

const trimmed = (value: unknown): string | null => (typeof value === 'string' ? value.trim() : null);

/** Rows of a mart by lot; other tests check what they hold. */
async function byLot(night: WorldNight, mart: string): Promise<ReadonlyMap<number, MartRow>> {
  return new Map((await night.rows(mart)).map((row) => [Number(row.lot_id), row]));
}

/** The name of a thing that the feed gives as an object, or as its name alone. */
const nameOf = (given: { readonly name?: string } | string | null | undefined): string | null =>
  (typeof given === 'string' ? given : given?.name) ?? null;

function linkOf(domain: number, lot: string | null, external: unknown): string | null {
  if (domain === 1 && /^\d+~[A-Z]+$/.test(String(external)))
    return `https://www.iaai.com/VehicleDetail/${external}`;
  if (!/^\d+$/.test(String(lot))) return null;
  return domain === 3
    ? `https://www.copart.com/lot/${lot}`
    : domain === 12
      ? `https://fem.encar.com/cars/detail/${lot}`
      : null;
}

/** The first text of a list. */
const firstOf = (texts: unknown): string | null =>
  Array.isArray(texts) ? String(texts[0] ?? '') || null : null;

function doubtOf(row: MartRow, isSetBack: boolean): string | null {
  if (row.estimate === null) return null;
  if (row.is_currency_known === false) return 'the currency of the lot is not known';
  if (isSetBack) return 'an odometer reading of the car is below an earlier one';
  if (row.interval_reason !== null) return 'too few prices of this class for an interval';
  if (row.is_unreliable === true) return 'such estimates are often far off';
  return row.comparable_prices === 0 ? 'no price of a like car is known' : null;
}

/** Whether it can be the price of the lot: far below the estimate it may stand for another. */
const isMeant = (row: MartRow, asked: number | null): boolean =>
  asked !== null && row.estimate !== null && asked > Number(row.estimate) * 0.3;

/** What is unusual about the price asked, unless the bid is above it, or else about the bid. */
function unusual(row: MartRow, asked: number | null, bid: number | null): string | null {
  const said = row.market === 'asking' ? 'asking price' : 'Buy Now';
  const below =
    row.prices_below === null || !isMeant(row, asked) || Number(asked) <= (bid ?? 0)
      ? 1
      : Number(row.prices_below);
  if (below < 0.25) return `${said} below ${below < 0.1 ? '9 in 10' : '3 in 4'} of such prices`;
  if (bid === null || row.high_50 === null || bid <= Number(row.high_50)) return null;
  return `bid above ${bid > Number(row.high_80) ? '9 in 10' : '3 in 4'} of such prices`;
}

/** What a lot costs at the default destination. */
const costsOf = (row: MartRow | undefined, bid: number | null): MartRow => ({
  cost_destination: row?.destination ?? null,
  cost_currency: row?.currency ?? null,
  cost: row?.cost ?? null,
  cost_estimate: row?.cost_estimate ?? null,
  cost_low_80: row?.cost_low_80 ?? null,
  cost_high_80: row?.cost_high_80 ?? null,
  cost_buy_now: row?.cost_buy_now ?? null,
  most_to_bid: row?.most_to_bid ?? null,
  room_to_bid: row?.most_to_bid == null ? null : Number(row.most_to_bid) - (bid ?? 0),
  cost_missing: row?.missing ?? null,
});

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const [groups, readings, odds] = await Promise.all(
    ['lot_groups', 'odometer_readings', 'sell_through_odds'].map((mart) => byLot(night, mart)),
  );
  const { manufacturer, model } = names(night);
  const inspected = inspectedLots(night);
  const byVehicle = async (mart: string): Promise<ReadonlyMap<number, MartRow>> =>
    new Map((await night.rows(mart)).map((row) => [Number(row.vehicle_id), row]));
  const [facts, vins] = [await byVehicle('vehicle_facts'), await byVehicle('vin_facts')];
  const landed = new Map(
    (await night.rows('landed_costs')).flatMap((row) =>
      row.is_default === true ? [[Number(row.lot_id), row] as const] : [],
    ),
  );
  const nameIn = (known: ReadonlyMap<number, string>, id: number | undefined): string | null =>
    (id === undefined ? undefined : known.get(id)) ?? null;
  // A lot without odds was sold, or another lot of the car took its place.
  const offered = (await night.rows('price_estimates')).filter(
    (row) => row.is_offered === true && (row.market === 'asking' || odds?.has(Number(row.lot_id))),
  );
  const setBack = new Set(
    (await night.rows('vehicle_timeline')).flatMap((row) =>
      row.odometer_rollback === true ? [row.vehicle_id] : [],
    ),
  );
  // Without a date, a lot of these statuses cannot be bought now.
  const waiting: unknown[] = ['not_checked', 'not_on_sale', 'on_approval', 'sold', 'failed', 'not_sold'];
  const buyable = offered.filter(
    ({ lot_id }) =>
      (odds?.get(Number(lot_id))?.sale_date ?? null) !== null ||
      !waiting.includes(night.lots.get(Number(lot_id))?.raw.status.name),
  );
  return buyable.map((row): MartRow => {
    const id = Number(row.lot_id);
    const lot = night.lots.get(id);
    const [group, next] = [groups?.get(id), odds?.get(id)];
    if (lot === undefined || group === undefined) throw new TypeError(`no lot ${id}`);
    const { raw, vehicle } = lot;
    const number = trimmed(raw.lot);
    const bid = raw.bid || null;
    const asks = row.market === 'asking' ? row.price : raw.buy_now;
    const asked = Number(asks) >= 1 && Number(asks) <= 5_000_000 ? Number(asks) : null;
    const isSetBack = setBack.has(vehicle.id);
    const weak = doubtOf(row, isSetBack);
    const inItsCurrency = (value: MartRow[string] | undefined): MartRow[string] =>
      row.is_currency_known === true ? (value ?? null) : null;
    const isOpen = asked !== null && asked > (bid ?? 0);
    const width = Number(next?.sell_probability_high) - Number(next?.sell_probability_low);
    return {
      lot_id: id,
      vehicle_id: vehicle.id,
      vin: vehicle.vin ?? null,
      domain_id: raw.domain.id,
      domain_name: raw.domain.name ?? null,
      lot: number,
      link: linkOf(raw.domain.id, number, raw.external_id),
      status_name: raw.status.name ?? null,
      attempt: next?.attempt ?? null,
      year: vehicle.year ?? null,
      year_origin: facts.get(vehicle.id)?.year_origin ?? null,
      vin_reason: vins.get(vehicle.id)?.reason ?? null,
      manufacturer_id: vehicle.manufacturer?.id ?? null,
      manufacturer_name: nameIn(manufacturer, vehicle.manufacturer?.id),
      model_id: vehicle.model?.id ?? null,
      model_name: nameIn(model, vehicle.model?.id),
      odometer_km: readings?.get(id)?.odometer_km ?? null,
      odometer_rollback: isSetBack,
      damage_main_group: group.damage_main_group ?? null,
      damage_main_name: nameOf(raw.damage?.main),
      damage_second_group: group.damage_second_group ?? null,
      title_brand: group.title_brand ?? null,
      title_name: nameOf(raw.title),
      inspection: inspected(lot),
      country_code: group.country_code ?? null,
      state_code: group.state_code === 'unknown' ? null : (group.state_code ?? null),
      city_name: nameOf(raw.location?.city),
      branch_name: nameOf(raw.selling_branch),
      seller_name: nameOf(raw.seller),
      seller_group: group.seller_group ?? null,
      market: row.market ?? null,
      sale_date: next?.sale_date ?? null,
      currency: inItsCurrency(row.currency),
      bid,
      buy_now: asked,
      estimate: inItsCurrency(row.estimate),
      low_80: inItsCurrency(row.low_80),
      low_50: inItsCurrency(row.low_50),
      high_50: inItsCurrency(row.high_50),
      high_80: inItsCurrency(row.high_80),
      comparable_prices: inItsCurrency(row.comparable_prices),
      weak: inItsCurrency(weak),
      prices_above:
        weak === null && isOpen && isMeant(row, asked) && row.prices_below !== null
          ? 1 - Number(row.prices_below)
          : null,
      stands_out: weak === null ? unusual(row, asked, bid) : null,
      sell_probability: width <= 0.5 ? (next?.sell_probability ?? null) : null,
      picture: firstOf(raw.images?.small) ?? firstOf(raw.images?.normal),
      ...costsOf(landed.get(id), bid),
    };
  });
}
