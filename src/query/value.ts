import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { z } from 'zod';
import { LotlakeError } from '../config/lotlake-error.js';
import { didYouMean } from '../config/nearest.js';
import type { Row } from '../duck/session.js';
import { ask } from './ask.js';

/** Tables and marts that the queries of `sql/value` read. */
export const VALUE_READS =
  'price_estimates price_factors price_accuracy price_inputs price_doubts lots vehicles dim_manufacturers dim_models dim_damages dim_titles dim_settings';

const amount = z.number().nullable();

/** Columns of `value/car` and `value/lots`. Amounts are in `currency`. 50 or 80 % of such prices lie between low and high. */
const estimated = z.object({
  of: z.string(),
  currency: z.string().nullable(),
  estimate: amount,
  /** Why there is no estimate, or a caution about it. */
  note: z.string().nullable(),
  ...{ low_80: amount, low_50: amount, high_50: amount, high_80: amount },
  /** Trusted or asking price, if the lot has one. */
  price: amount,
  /** What moves the estimate most against the average lot. */
  drivers: z.array(z.object({ factor: z.string(), amount: z.number() })),
});

/** What a car or lot is worth, and the evidence for it. Errors are shares. */
export type Value = Readonly<Awaited<ReturnType<typeof valued>>>;

/** The values of the lots of a VIN, a lot number or a lot id, the newest first. Throws SHARE_NOTHING_FOUND if there are none. */
export async function valuesOfLots(connection: DuckDBConnection, id: string): Promise<Value[]> {
  const found = await ask(connection, 'value/lots', { id: id.trim().toUpperCase() });
  if (found.length > 0) return Promise.all(found.map((lot) => valued(connection, lot)));
  throw new LotlakeError('SHARE_NOTHING_FOUND', `the lake has no price or offer of ${id}`, {
    hint: 'give a VIN, a lot number or a lot id of the lake; --make, --model and --year estimate any car',
  });
}

/** A car, which need not be in the lake. Whatever is not given is taken as average. */
interface Car {
  readonly make: string;
  readonly model: string;
  readonly year: number;
  readonly km?: number | undefined;
  readonly damage?: string | undefined;
  readonly title?: string | undefined;
}

/** The value of a car at auction. Throws SHARE_NOTHING_FOUND for a make, model, damage or title that the lake does not know. */
export async function valueOfCar(connection: DuckDBConnection, given: Car): Promise<Value> {
  const [market] = await ask(connection, 'value/market');
  if (market === undefined) throw notFound('the lake has too few auction prices for estimates');
  const make = idIn(await ask(connection, 'value/makes'), 'manufacturer', given.make);
  const model = idIn(await ask(connection, 'value/models', { make }), 'model', given.model);
  const { year, km = null } = given;
  const [currency, now] = [String(market.currency), Number(market.now)];
  if (year > now + 1) throw notFound(`no car has the model year ${year} yet`);
  const damage = await groupOf(connection, currency, 'damage', given.damage);
  const title = await groupOf(connection, currency, 'title', given.title);
  const car = `${year} ${given.make} ${given.model}`;
  const values = { ...{ currency, now, car, make, model, year }, km, damage, title };
  const [found] = await ask(connection, 'value/car', values);
  if (found === undefined) throw notFound('the lake has no auction price of this make');
  return valued(connection, found);
}

/** Adds the accuracy of estimates for such lots, and the most similar sales. */
async function valued(connection: DuckDBConnection, row: Row) {
  const { drivers, ...value } = estimated.parse(row);
  const kind = Object(row.kind) as Record<string, DuckDBValue>;
  const { market = null, currency = null, make = null } = kind;
  const [accuracy = null] = await ask(connection, 'value/accuracy', { market, currency, make });
  return { ...value, accuracy, comparable_sales: await ask(connection, 'value/alike', kind), drivers };
}

const notFound = (message: string, hint?: string): LotlakeError =>
  new LotlakeError('SHARE_NOTHING_FOUND', message, { hint });

/** The id of a make or model by its name. Throws SHARE_NOTHING_FOUND, which suggests the nearest name. */
function idIn(known: readonly Row[], what: 'manufacturer' | 'model', name: string): number {
  const found = known.find((each) => String(each.name).toLowerCase() === name.trim().toLowerCase());
  if (found !== undefined) return Number(found.id);
  const names = known.map((each) => String(each.name));
  throw notFound(`the lake has no ${what} ${name}${didYouMean(name, names)}`);
}

/**
 * The group of a damage or title, given by the group's name or as the feed writes it; null if none is given. Throws
 * SHARE_NOTHING_FOUND, which lists the groups.
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
