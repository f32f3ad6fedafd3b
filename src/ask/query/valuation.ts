import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { z } from 'zod';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { didYouMean } from '../../base/config/nearest.js';
import { counted } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { ask, failOlder, readSql } from './ask.js';
import type { Land } from './landed.js';

/** Tables and marts that the queries of `sql/value` read. */
export const VALUE_READS =
  'price_estimates price_factors price_accuracy price_inputs price_doubts lots vehicles vin_facts odometer_rollbacks sales sell_through_odds sold_by_day days_on_market dim_manufacturers dim_models dim_damages dim_titles dim_settings';

/** Factors (price_factors) whose names say little, in words. */
export const FACTORS: Readonly<Record<string, string>> = {
  domain_id: 'source',
  mileage: 'mileage for its age',
  month: 'level of prices in the month',
};

const amount = z.number().nullable();

/** Columns of `value/car` and `value/lots`. Amounts are in `currency`. 50 or 80 % of such prices lie between low and high. */
const estimated = z.object({
  of: z.string(),
  currency: z.string().nullable(),
  estimate: amount,
  is_offered: z.boolean(),
  /** Whether the feed tells the currency of the lot; if not, only the estimate is in `currency`. */
  is_currency_known: z.boolean(),
  /** Why there is no estimate or interval, or a caution about it. */
  note: z.string().nullable(),
  low_80: amount,
  low_50: amount,
  high_50: amount,
  high_80: amount,
  /** Why there is no interval. */
  interval_reason: z.string().nullable(),
  /** Trusted or asking price, if the lot has one. */
  price: amount,
  /** Buy Now price of a lot on offer, and the share of sold lots with such a price that were sold for it. */
  buy_now: amount,
  buy_now_share: amount,
  /** Whether the reading of the odometer is usable, or why not; where the model year comes from. */
  odometer: z.string().nullable(),
  year_origin: z.string().nullable(),
  /** Factors of the estimate: that of state and branch, and that of the seller; a car that is no lot has that of a state alone. */
  place_factor: amount,
  seller_factor: amount,
  /** What moves the estimate most against the average lot. */
  drivers: z.array(z.object({ factor: z.string(), amount: z.number() })),
  /** What an estimate of a car that is no lot rests on. */
  evidence: z
    .object({
      /** Prices of the market, and those of the model at most two model years apart. */
      prices: z.number(),
      like_prices: z.number(),
      /** What the car would bring with each damage and title, with its prices; null amounts where these are too few. */
      otherwise: z.array(
        z.object({
          what: z.enum(['damage', 'title']),
          level: z.string(),
          prices: z.number(),
          /** Whether the car is said to have it. */
          is_own: z.boolean(),
          estimate: amount,
          low_80: amount,
          high_80: amount,
        }),
      ),
    })
    .optional(),
});

/** What a car or lot is worth, and the evidence for it. Errors are shares. */
export type Value = Readonly<Awaited<ReturnType<typeof valued>>>;

/** What else a value is asked of. */
interface Asking {
  /** Adds what each costs. */
  readonly land?: Land | undefined;
  /** A query with the rows of `value/priced_lots`, where they lie by model. */
  readonly pricedLots?: string;
}

/**
 * The values of the lots of a VIN, a lot number or a lot id, the newest first. Throws QUERY_NOTHING_FOUND if there are none.
 */
export const valuesOfLots = (connection: DuckDBConnection, id: string, asking?: Asking): Promise<Value[]> =>
  lotsWorth(connection, id, asking).catch(failOlder);

async function lotsWorth(connection: DuckDBConnection, id: string, asking?: Asking): Promise<Value[]> {
  const spelled = { id: id.trim().toUpperCase() };
  const exact = spelled.id === '' ? [] : await ask(connection, 'value/lot_ids', spelled);
  const ids = exact.length > 0 ? exact : await ask(connection, 'value/lot_ids_spelled', spelled);
  const values = await worthOf(connection, await readLots(connection, ids), asking);
  if (values.length > 0) return values;
  throw new LotlakeError('QUERY_NOTHING_FOUND', `the lake has no price or offer of ${id}`, {
    hint: 'give a VIN, a lot number or a lot id of the lake; --make, --model and --year estimate any car',
  });
}

/** Lots with what the lake knows of each alone, the newest first; none for lots without price or offer. */
export type KnownLots = readonly Awaited<ReturnType<typeof knownOf>>[];

/** Reads lots, given by rows with `lot_id` and `vehicle_id`. */
export const knownLots = (connection: DuckDBConnection, ids: readonly Row[]): Promise<KnownLots> =>
  readLots(connection, ids).catch(failOlder);

/** The values of lots. */
export const valuesOf = (connection: DuckDBConnection, lots: KnownLots, asking?: Asking): Promise<Value[]> =>
  worthOf(connection, lots, asking).catch(failOlder);

const worthOf = (connection: DuckDBConnection, lots: KnownLots, asking?: Asking): Promise<Value[]> =>
  Promise.all(lots.map((lot) => valued(connection, lot, asking)));

async function readLots(connection: DuckDBConnection, ids: readonly Row[]): Promise<KnownLots> {
  const lots = [];
  for (const { lot_id, vehicle_id } of ids.slice(0, 100))
    lots.push(...(await ask(connection, 'value/lot', { lot: Number(lot_id), vehicle_id: idOf(vehicle_id) })));
  const newest = lots.sort((a, b) => String(b.priced_at).localeCompare(String(a.priced_at))).slice(0, 20);
  return Promise.all(newest.map((lot) => knownOf(connection, lot)));
}

const idOf = (id: unknown): number | null => (id === null ? null : Number(id));

/** A car, which need not be in the lake. Whatever is not given is taken as average. */
interface Car {
  readonly make: string;
  readonly model: string;
  readonly year: number;
  readonly km?: number | undefined;
  readonly damage?: string | undefined;
  readonly title?: string | undefined;
  /** Code of a state. */
  readonly state?: string | undefined;
}

/**
 * The value of a car at auction. Throws QUERY_NOTHING_FOUND for a make, model, damage, title or state that the lake does not know.
 */
export const valueOfCar = (connection: DuckDBConnection, given: Car, asking?: Asking): Promise<Value> =>
  carWorth(connection, given, asking).catch(failOlder);

async function carWorth(connection: DuckDBConnection, given: Car, asking?: Asking): Promise<Value> {
  const [market] = await ask(connection, 'value/market');
  if (market === undefined) throw notFound('the lake has too few auction prices for estimates');
  const make = idIn(await ask(connection, 'value/makes'), 'manufacturer', given.make);
  const model = idIn(await ask(connection, 'value/models', { make }), 'model', given.model);
  const { year, km = null } = given;
  const [currency, now] = [String(market.currency), Number(market.now)];
  if (year > now + 1) throw notFound(`no car has the model year ${year} yet`);
  const damage = await groupOf(connection, currency, 'damage', given.damage);
  const title = await groupOf(connection, currency, 'title', given.title);
  const state = await stateOf(connection, currency, given.state);
  const car = `${year} ${given.make} ${given.model}`;
  const values = { currency, now, car, make, model, year, km, damage, title, state };
  const [found] = await ask(connection, 'value/car', values);
  if (found === undefined) throw notFound('the lake has no auction price of this make');
  return valued(connection, await knownOf(connection, found), asking);
}

/** A row of `value/lot` or `value/car` with what the lake knows of the lot. */
async function knownOf(connection: DuckDBConnection, row: Row) {
  const found = estimated.parse(row);
  const kind = Object(row.kind) as Kind;
  return { found, kind, known: await known(connection, found.is_offered, kind) };
}

/** Adds the accuracy of estimates for such lots, how fast they are sold, and the most similar sales. */
async function valued(
  connection: DuckDBConnection,
  { found, kind, known: own }: Awaited<ReturnType<typeof knownOf>>,
  { land, pricedLots = readSql('value/priced_lots') }: Asking = {},
) {
  const { drivers, ...value } = found;
  const { market, currency, make, domain, vehicle, state, ...others } = kind;
  const [accuracy = null] = await ask(connection, 'value/accuracy', { market, currency, make });
  const [days = null] = value.is_offered
    ? await ask(connection, 'value/days', { domain, make, model: kind.model })
    : [];
  const alike = {
    market,
    currency,
    make,
    ...others,
    vehicle,
    estimate: value.estimate,
    priced_lots: pricedLots,
  };
  return {
    ...value,
    market: String(market),
    ...own,
    days,
    accuracy,
    comparable_sales: await ask(connection, 'value/alike', alike),
    drivers,
    ...(land !== undefined && { landed: await land(kind, found) }),
  };
}

/** What `value/lot` and `value/car` say a car is; only a car that is no lot has a state, and it has no lot_id, domain and vehicle. */
type Kind = Readonly<
  Record<
    | 'market'
    | 'currency'
    | 'make'
    | 'model'
    | 'year'
    | 'km'
    | 'damage'
    | 'title'
    | 'state'
    | 'lot_id'
    | 'domain'
    | 'vehicle',
    DuckDBValue
  >
>;

/** What the lake knows of a lot and its vehicle. What does not apply is null. */
async function known(connection: DuckDBConnection, isOffered: boolean, kind: Kind) {
  const { lot_id: lot, vehicle: vehicle_id } = kind;
  const about = async (applies: boolean, query: string, values: Record<string, DuckDBValue>) =>
    applies ? ask(connection, query, values) : [];
  const [isLot, isVehicle] = [lot !== null, vehicle_id !== null];
  const [last_sale = null] = await about(isLot, 'value/last_sale', { vehicle_id, lot });
  const [odds = null] = await about(isOffered, 'value/odds', { lot });
  const [vin = null] = await about(isVehicle, 'value/vin', { vehicle_id });
  const rollbacks = await about(isVehicle, 'value/rollbacks', { vehicle_id });
  return { last_sale, odds, vin, rollbacks };
}

/** How many priced lots are near a lot or car in all, in a sentence that says what that means. */
export function nearWords({ comparable_sales: sales, market }: Value): string {
  const many = sales.filter(({ doubt }) => doubt === null).length;
  const what = market === 'asking' ? 'listing' : 'sale';
  const found = many === 0 ? `no ${what} near in all` : `${counted(many, what)} near in all (ten at most)`;
  return `${found}: of the model, at most two model years and 50,000 km apart, of the same damage and title, and by their own estimates worth at most twice or half as much; what is not known of it does not count`;
}

const notFound = (message: string, hint?: string): LotlakeError =>
  new LotlakeError('QUERY_NOTHING_FOUND', message, { hint });

/** The id of a make or model by its name. Throws QUERY_NOTHING_FOUND, which suggests the nearest name. */
function idIn(known: readonly Row[], what: 'manufacturer' | 'model', name: string): number {
  const found = known.find((each) => String(each.name).toLowerCase() === name.trim().toLowerCase());
  if (found !== undefined) return Number(found.id);
  const names = known.map((each) => String(each.name));
  throw notFound(`the lake has no ${what} ${name}${didYouMean(name, names)}`);
}

/**
 * The group of a damage or title, given by the group's name or as the feed writes it; null if none is given. Throws
 * QUERY_NOTHING_FOUND, which lists the groups.
 */
async function groupOf(
  connection: DuckDBConnection,
  currency: string,
  what: 'damage' | 'title',
  given: string | undefined,
): Promise<string | null> {
  if (given === undefined) return null;
  const name = given.trim().toLowerCase();
  const factor = what === 'damage' ? 'damage_main_group' : 'title_brand';
  const groups = await ask(connection, 'value/groups', { currency, factor, name });
  const asLevel = name.replaceAll(/[\s-]+/g, '_');
  const found = groups.find(({ level }) => level === asLevel) ?? groups.find(({ is_meant }) => is_meant);
  if (found !== undefined) return String(found.level);
  const names = groups.map(({ level }) => String(level));
  const near = didYouMean(given, names);
  throw notFound(`no price has the ${what} ${given}${near}`, `there are ${names.join(', ')}`);
}

/** The level of the state of a code, case aside; null if none is given. Throws QUERY_NOTHING_FOUND, which lists the states. */
async function stateOf(
  connection: DuckDBConnection,
  currency: string,
  given: string | undefined,
): Promise<string | null> {
  if (given === undefined) return null;
  const states = await ask(connection, 'value/states', { currency });
  const found = states.find(({ code }) => String(code).toLowerCase() === given.trim().toLowerCase());
  if (found !== undefined) return String(found.level);
  const codes = states.map(({ code }) => String(code));
  throw notFound(
    `no auction lot is in the state ${given}${didYouMean(given, codes)}`,
    `there are ${codes.join(', ')}`,
  );
}
