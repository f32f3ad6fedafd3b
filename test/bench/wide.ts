import { hash } from '../../src/sandbox/world/random.js';
import { checkDigit } from '../../src/sandbox/world/vin.js';

/**
 * How many of each the real service has (service.md#limits for damages, makes, models and prices; the others are orders
 * of magnitude). The embedded world plants a few of each, and a cost that grows with their number does not show there.
 */
const MANY = {
  makes: 424,
  models: 5_500,
  damages: 2_300,
  titles: 400,
  sellers: 30_000,
  branches: 350,
  cities: 60,
} as const;

/** One vehicle in so many has a VIN whose head no other vehicle has. */
const OWN_HEAD = 10;

/** One vehicle in so many is of one of many rare models. */
const RARE_MODEL = 5;

/** Most entries in the price history of a lot (service.md#lots). */
const MOST_PRICES = 26;

/** Days between two of the added auctions. */
const WEEK = 7 * 86_400_000;

/** First id of added rows; ids of the world are smaller. */
const FIRST = 10_000_000;

type Json = Record<string, unknown>;

const asJson = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

/** Uses of random numbers; streams with different numbers are independent. */
const Draw = {
  model: 90_001,
  seller: 90_002,
  title: 90_003,
  damage: 90_004,
  branch: 90_005,
  city: 90_006,
  prices: 90_007,
};

const unit = (id: number, use: number): number => hash(1, id, use) / 2 ** 32;
/** A number below `many`; low numbers come most often, as a few sellers sell most of the cars. */
const skewed = (id: number, use: number, many: number): number => Math.floor(many * unit(id, use) ** 3);

/** The VIN of a vehicle: as the world has it, or with a head of its own and a check digit that fits. */
function wideVin(vin: string, vehicleId: number): string {
  if (vin.length !== 17 || vehicleId % OWN_HEAD !== 0) return vin;
  const characters = '0123456789ABCDEFGHJKLMNPRSTUVWXYZ';
  let draw = Math.floor(vehicleId / OWN_HEAD);
  let own = '';
  for (let place = 0; place < 5; place++) {
    own += characters[draw % characters.length];
    draw = Math.floor(draw / characters.length);
  }
  const text = (digit: string): string => `${vin.slice(0, 3)}${own}${digit}${vin.slice(9)}`;
  return text(checkDigit(text('0')));
}

/**
 * Gives a vehicle of the embedded world the variety of the real service: VIN heads, models, titles, damages, sellers,
 * branches, cities, and a price history of up to 26 entries. Changes the record in place. Equal records stay equal.
 */
export function widen(record: Json): Json {
  const id = Number(record.id);
  if (typeof record.vin === 'string') record.vin = wideVin(record.vin, id);
  if (hash(1, id, Draw.model) % RARE_MODEL === 0 && record.model !== null) rareModel(record, id);
  for (const lot of Array.isArray(record.lots) ? record.lots : []) widenLot(lot as Json);
  return record;
}

function rareModel(record: Json, id: number): void {
  const model = skewed(id, Draw.model, MANY.models);
  const make = FIRST + (model % MANY.makes);
  record.manufacturer = { id: make, name: `Make ${model % MANY.makes}` };
  record.model = { id: FIRST + model, name: `Model ${model}`, manufacturer_id: make };
  record.generation = null;
}

function widenLot(lot: Json): void {
  const id = Number(lot.id);
  const named = (use: number, many: number, name: string): Json => {
    const place = skewed(id, use, many);
    return { id: FIRST + place, name: `${name} ${place}` };
  };
  const seller = asJson(lot.seller);
  if (seller !== undefined) lot.seller = { ...seller, ...named(Draw.seller, MANY.sellers, 'Seller') };
  const title = asJson(lot.title);
  if (title !== undefined && id % 2 === 0) {
    const { id: titleId, name } = named(Draw.title, MANY.titles, String(title.name));
    lot.title = { ...title, id: titleId, name };
  }
  const damage = asJson(lot.damage);
  if (damage !== undefined && damage.second !== null)
    damage.second = named(Draw.damage, MANY.damages, 'Damage');
  const branch = asJson(lot.selling_branch);
  if (branch !== undefined) Object.assign(branch, named(Draw.branch, MANY.branches, 'Branch'));
  const location = asJson(lot.location);
  const state = asJson(location?.state);
  if (location !== undefined && state !== undefined) {
    const place = Number(state.id) * MANY.cities + skewed(id, Draw.city, MANY.cities);
    location.city = { id: FIRST + place, name: `City ${place}` };
  }
  const prices = Array.isArray(lot.prices) ? (lot.prices as Json[]) : [];
  if (prices.length > 0) lot.prices = [...earlierPrices(id, prices), ...prices];
}

/** Auctions before those that the world plants, a week apart and not sold. */
function earlierPrices(lotId: number, prices: readonly Json[]): Json[] {
  const first = prices.reduce((a, b) => (String(a.sale_date) < String(b.sale_date) ? a : b));
  const count = Math.floor(unit(lotId, Draw.prices) * Math.max(0, MOST_PRICES - prices.length - 10));
  const before = (at: unknown, weeks: number): string =>
    `${new Date(Date.parse(String(at)) - weeks * WEEK).toISOString().slice(0, -1)}000Z`;
  return Array.from({ length: count }, (_, place) => ({
    ...first,
    id: 1e12 + lotId * 32 + place,
    bid: Math.round(Number(first.bid) * (0.6 + 0.02 * place)),
    sale_date: before(first.sale_date, count - place),
    final_bid_updated_at: before(first.final_bid_updated_at, count - place),
    status: { id: 8, name: 'not_sold' },
  }));
}

/** A record of the archive feed with the VIN that its vehicle has. */
export function widenArchived(record: Json): Json {
  const vin =
    typeof record.vin === 'string' ? wideVin(record.vin.toUpperCase(), Number(record.car_id)) : undefined;
  return vin === undefined ? record : { ...record, vin: vin.toLowerCase() };
}
