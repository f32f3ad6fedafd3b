import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { didYouMean } from '../../base/config/nearest.js';
import { type Row, rows } from '../../base/duck/session.js';
import { type CostRow, cell, placeOf, plainName } from '../../core/model/costs/columns.js';
import { carOf, readRows } from '../../core/model/costs/land-costs.js';
import {
  type CarCosts,
  carCosts,
  missingAt,
  mostToBid,
  partsAt,
  totalAt,
  type Way,
  wayTo,
} from '../../core/model/costs/landing.js';
import { centsOfPrice, NO_CAR } from '../../core/model/costs/lot-rows.js';
import { unitsOf } from '../../core/model/costs/money.js';
import type { CostCar } from '../../core/model/costs/parts.js';
import { type Destination, type Schedule, scheduleOf } from '../../core/model/costs/schedule.js';
import { readModels } from '../../core/model/model-files.js';
import { ask, failOlder } from './ask.js';

/** Tables and marts that the costs of a lot or car read. */
export const LANDED_READS = 'cost_rows landed_costs price_inputs price_estimates lots vehicles dim_settings';

/** A part of a total, in its own currency and in that of the total, and the row of the table that gave it. */
interface LandedPart {
  readonly part: string;
  readonly name: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly converted: number;
  /** Such as `buyer_fees.csv:12`; null for the price. */
  readonly row: string | null;
  readonly note: string | null;
}

/** A total at a price of a lot, of which `bid` is the bid so far; null if a part of it is not known. */
export interface LandedTotal {
  readonly at: 'given' | 'bid' | 'estimate' | 'low_80' | 'high_80' | 'buy_now';
  /** In the currency of the lot. */
  readonly price: number;
  readonly total: number | null;
}

/** What a lot or car costs at a destination. */
export interface Landed {
  readonly destination: string;
  /** Currency of the totals. */
  readonly currency: string;
  readonly lot_currency: string | null;
  /** The day whose rows of the tables count. */
  readonly day: string;
  readonly totals: readonly LandedTotal[];
  /** The parts of the first total. */
  readonly parts: readonly LandedPart[];
  readonly missing: readonly string[];
  /** What the car may cost at most, and the highest bid within it, in the currency of the lot; null without a target. */
  readonly target: number | null;
  readonly most_to_bid: number | null;
  /** The row of the target, such as `targets.csv:2`. */
  readonly target_row: string | null;
  /** Why there is no most_to_bid where a target means the car. */
  readonly bid_missing: string | null;
  /** What a car that is no lot was taken for where nothing was said: the usual kind of its model and year; null for a lot. */
  readonly assumed: string | null;
  /** That the tables have changed since; null if they have not, or nobody looked. */
  readonly changed: string | null;
}

/** The tables of costs of a snapshot, on the day of its run. */
export interface Costs {
  readonly rows: readonly CostRow[];
  readonly schedule: Schedule;
}

/** Reads the tables of costs of a snapshot; undefined if it was made without any. */
export async function readSchedule(connection: DuckDBConnection): Promise<Costs | undefined> {
  const found = await readRows(connection);
  if (found.length === 0) return undefined;
  const [settings] = await rows(connection, 'select cast(day_of(as_of) as varchar) as day from dim_settings');
  return { rows: found, schedule: scheduleOf(found, String(settings?.day)) };
}

/**
 * The destination of a name, or the default one. Throws QUERY_NOTHING_FOUND for a name that destinations.csv does not have, and for
 * a snapshot without tables of costs.
 */
export function destinationNamed(
  costs: Costs | undefined,
  name: string | undefined,
): Costs & { readonly destination: Destination } {
  if (costs === undefined)
    throw new LotlakeError('QUERY_NOTHING_FOUND', 'the snapshot was made without tables of costs', {
      hint: 'lotlake init --costs writes examples; the next run computes with your tables (docs/ask/costs.md)',
    });
  const { destinations } = costs.schedule;
  const found = destinations.find((each) =>
    name === undefined ? each.isDefault : plainName(each.name) === plainName(name),
  );
  if (found !== undefined) return { ...costs, destination: found };
  const names = destinations.map((each) => each.name);
  throw new LotlakeError(
    'QUERY_NOTHING_FOUND',
    `there is no destination ${name ?? 'that is the default'}${didYouMean(name ?? '', names)}`,
    { hint: `destinations: ${names.join(', ')}` },
  );
}

/** An estimate and the ends of its interval. */
interface EstimatedPrices {
  readonly currency: string | null;
  readonly estimate: number | null;
  readonly low_80: number | null;
  readonly high_80: number | null;
}

/** Computes what a value costs at a destination, by what the car is and its estimate. */
export type Land = (kind: Row, value: EstimatedPrices) => Promise<Landed | null>;

/** A car for costs, with the target of landed_costs if it is a lot on offer. */
interface Costed {
  readonly car: CostCar;
  readonly prices: Readonly<Partial<Record<LandedTotal['at'], number | null>>>;
  /** What it is likely to go for, see landed_costs. */
  readonly likely: number | null;
}

/** The lot as the model `costs` reads it; undefined for one that has neither price nor offer. */
async function costedLot(connection: DuckDBConnection, lot: number): Promise<Costed | undefined> {
  const select = readModels().find(({ name }) => name === 'costs')?.sql ?? '';
  // The model reads all lots on offer; here it reads one lot, whether or not it is on offer.
  const [row] = await rows(connection, `with offered_lots as (select ${lot} as lot_id) from (\n${select}\n)`);
  if (row === undefined) return undefined;
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  const { estimate, low_80, high_80, buy_now } = row;
  return {
    car: carOf(row),
    likely: number(row.likely),
    prices: {
      estimate: number(estimate),
      low_80: number(low_80),
      high_80: number(high_80),
      buy_now: number(buy_now),
    },
  };
}

/** What a car that is no lot is bought as. */
interface BoughtAt {
  /** Number of the source. */
  readonly source?: number | undefined;
}

/** The car of a value that is no lot, of the usual kind of its model. */
async function costedCar(
  connection: DuckDBConnection,
  kind: Row,
  value: EstimatedPrices,
  { source }: BoughtAt,
): Promise<Costed> {
  const { make, model, year, title, state } = kind;
  const [usual = {}] = await ask(connection, 'value/car_kind', {
    make: Number(make),
    model: Number(model),
    year: Number(year),
  });
  const { estimate, low_80, high_80, currency } = value;
  return {
    car: {
      ...NO_CAR,
      ...carOf({ ...usual, currency, title: title ?? 'unknown', year }),
      source: source ?? null,
      state: typeof state === 'string' ? state : null,
    },
    prices: { estimate, low_80, high_80 },
    likely: estimate,
  };
}

/**
 * Computes what values cost at a destination.
 * @param at what a car that is no lot is bought as; a bid in the currency of the lot, in place of the estimate; what {@link changedSince} says
 */
export const landTo =
  (
    connection: DuckDBConnection,
    costs: Costs,
    destination: Destination,
    {
      bid,
      changed,
      ...at
    }: BoughtAt & { readonly bid?: number | undefined; readonly changed?: string | undefined } = {},
  ): Land =>
  async (kind, value) => {
    const lot = typeof kind.lot_id === 'number' ? kind.lot_id : null;
    const costed =
      lot === null ? await costedCar(connection, kind, value, at) : await costedLot(connection, lot);
    return costed === undefined
      ? null
      : landedOf(connection, costs, costed, destination, { lot, bid, changed });
  };

/**
 * {@link landTo} a destination by its name.
 * @param at with the configuration, to say whether the tables have changed since
 * Throws QUERY_NOTHING_FOUND as {@link destinationNamed} does, and QUERY_NO_TABLE.
 */
export async function landingTo(
  connection: DuckDBConnection,
  to: string,
  at: BoughtAt & { readonly bid?: number | undefined; readonly config?: Config | undefined },
): Promise<Land> {
  const { config, ...bought } = at;
  const found = await readSchedule(connection).catch(failOlder);
  const { destination, ...costs } = destinationNamed(found, to);
  const changed = config === undefined ? undefined : await changedSince(config, costs);
  return landTo(connection, costs, destination, { ...bought, changed });
}

/** What a lot costs at each destination of the tables, the default one first; empty for one that has neither price nor offer. */
export async function landedLot(connection: DuckDBConnection, costs: Costs, lot: number): Promise<Landed[]> {
  const costed = await costedLot(connection, lot);
  if (costed === undefined) return [];
  const destinations = costs.schedule.destinations.toSorted(
    (one, other) => Number(other.isDefault) - Number(one.isDefault),
  );
  const landed: Landed[] = [];
  for (const destination of destinations)
    landed.push(await landedOf(connection, costs, costed, destination, { lot }));
  return landed;
}

async function landedOf(
  connection: DuckDBConnection,
  { rows: tables, schedule }: Costs,
  costed: Costed,
  destination: Destination,
  {
    lot,
    bid,
    changed,
  }: {
    readonly lot: number | null;
    readonly bid?: number | undefined;
    readonly changed?: string | undefined;
  },
): Promise<Landed> {
  const { car, prices, likely } = costed;
  const costs = carCosts(schedule, car, destination);
  const way = wayTo(schedule, car, costs.size, destination);
  const known = (['estimate', 'buy_now', 'low_80', 'high_80'] as const).map(
    (name) => [name, prices[name]] as const,
  );
  // The parts are those of the first price: the given one, or what the lot is likely to go for.
  const first = known.find(([, price]) => price === likely) ?? (['bid', likely] as const);
  const asked = [['given', bid] as const, first, ...known.filter((each) => each !== first)].flatMap(
    ([name, price]) => (typeof price === 'number' ? [{ at: name, price: centsOfPrice(price) }] : []),
  );
  const [shown] = asked;
  const [offered] =
    lot === null
      ? []
      : await rows(
          connection,
          `select target, target_row, bid_missing from landed_costs where lot_id = ${lot} and destination = $destination`,
          { destination: destination.name },
        );
  const ofTarget = typeof offered?.target_row === 'number' ? tables[offered.target_row - 1] : undefined;
  const target = typeof offered?.target === 'number' ? offered.target : null;
  return {
    destination: destination.name,
    currency: destination.currency,
    lot_currency: car.currency,
    day: schedule.day,
    totals: asked.map(({ at: name, price }) => ({
      at: name,
      price: unitsOf(price),
      total: orNull(unitsOf(totalAt(costs, way, price))),
    })),
    parts: shown === undefined ? [] : shownParts(costs, way, shown.price, tables),
    missing: missingFor(costs, way, asked),
    target,
    target_row: ofTarget === undefined ? null : placeOf(ofTarget),
    most_to_bid: target === null ? null : most(costs, way, target),
    assumed: lot === null ? assumedOf(car) : null,
    changed: changed ?? null,
    bid_missing: typeof offered?.bid_missing === 'string' ? offered.bid_missing : null,
  };
}

const most = (costs: CarCosts, way: Way, target: number): number | null => {
  const found = mostToBid(costs, way, centsOfPrice(target));
  return found === undefined ? null : unitsOf(found);
};

/** The type, body, fuel and engine of a car, in words. */
const assumedOf = ({ vehicleType, bodyType, fuel, cm3 }: CostCar): string =>
  [vehicleType, bodyType, fuel, cm3 === null ? null : `${cm3} cm3`]
    .filter((fact) => fact !== null)
    .join(', ');

const orNull = (amount: number): number | null => (Number.isNaN(amount) ? null : amount);

function missingFor(costs: CarCosts, way: Way, asked: readonly { readonly price: number }[]): string[] {
  if (asked.length === 0)
    return ['there is neither an estimate nor a Buy Now price', ...costs.missing, ...way.missing];
  return [...new Set(asked.flatMap(({ price }) => missingAt(costs, way, price)))];
}

function shownParts(costs: CarCosts, way: Way, price: number, tables: readonly CostRow[]): LandedPart[] {
  return partsAt(costs, way, price).map(({ part, name, row, currency, amount, converted }) => {
    const found = tables.find((each) => each === row);
    return {
      part,
      name,
      amount: unitsOf(amount),
      currency,
      converted: unitsOf(converted),
      row: row === undefined ? null : placeOf(row),
      note: found === undefined ? null : cell(found, 'note') || null,
    };
  });
}

/** Why the tables in the folder of the settings are not those of the snapshot; undefined if they are, and without a folder. */
export async function changedSince({ costs: folder }: Config, costs: Costs): Promise<string | undefined> {
  if (folder === undefined) return undefined;
  const { readCosts } = await import('../../core/model/costs/read-tables.js');
  try {
    if (JSON.stringify(readCosts(folder)) === JSON.stringify(costs.rows)) return undefined;
    return `the tables in ${folder} have changed since the last run; the next one computes with them`;
  } catch (error) {
    return `the tables in ${folder} cannot be used now: ${messageOf(error)}`;
  }
}
