import type { DuckDBConnection } from '@duckdb/node-api';
import { packageFile } from '../../../base/config/package-root.js';
import { literal, type Row, rows } from '../../../base/duck/session.js';
import { openNumbers } from '../append-numbers.js';
import type { CostRow, CostTable } from './columns.js';
import {
  COLUMNS,
  type Coded,
  LOT_NUMBERS,
  numberTexts,
  type RowNumber,
  rowsFor,
  SHARED,
} from './lot-rows.js';
import type { CostCar } from './parts.js';
import { type Schedule, scheduleOf } from './schedule.js';
import { type MarketPrice, medianFinder } from './target.js';

/**
 * Computes what each lot on offer costs at each destination, by the rows of `cost_rows`. The results are tables of the database `costs`, which is
 * in memory: `landed`, with numbers of `destinations` and `texts`, and `market_prices`. All are empty without destinations.
 * @param select the lots on offer, see sql/models/market/costs.sql
 */
export async function landCosts(connection: DuckDBConnection, select: string): Promise<void> {
  await connection.run(`attach if not exists ':memory:' as costs;
    create or replace table costs.landed (destination integer, ${Object.keys(COLUMNS)
      .map((name) => `${name} double`)
      .join(', ')});
    create or replace table costs.destinations (number integer, destination varchar, is_default boolean, currency varchar, country varchar);
    create or replace table costs.rates (from_currency varchar, to_currency varchar, rate double);
    create or replace table costs.texts (number integer, text varchar);
    create or replace table costs.row_lists (number integer, cost_rows bigint[])`);
  for (const [name, columns] of Object.entries(SHARED))
    await connection.run(
      `create or replace table costs.${name} (destination integer, number integer, ${Object.entries(columns)
        .map(([column, type]) => `${column} ${type}`)
        .join(', ')})`,
    );
  const tables = await readRows(connection);
  const marketPrices = packageFile('sql/pricing/market_prices.sql');
  // Without tables, nothing of the lots is read.
  const isEmpty = tables.length === 0;
  await connection.run(
    `create or replace table costs.market_prices as ${isEmpty ? `from (${marketPrices}) limit 0` : marketPrices}`,
  );
  if (isEmpty) return;
  const [settings] = await rows(connection, 'select cast(day_of(as_of) as varchar) as day from dim_settings');
  await codeLots(connection, select);
  await landLots(connection, scheduleOf(tables, String(settings?.day)), numbersOf(tables));
}

/** Gives the number of a row in `cost_rows`, which are in the order of the rows. */
function numbersOf(tables: readonly CostRow[]): RowNumber {
  const numbers = new Map(tables.map((row, i) => [row, i + 1]));
  return (row) => numbers.get(row) ?? 0;
}

/** The rows of the tables of costs in the mart `cost_rows` of a lake, in its order. */
export async function readRows(connection: DuckDBConnection): Promise<CostRow[]> {
  const found = await rows(connection, 'select table_name, line, cells from cost_rows order by cost_row');
  return found.map(({ table_name, line, cells }) => ({
    table: String(table_name) as CostTable,
    line: Number(line),
    values: JSON.parse(String(cells)) as CostRow['values'],
  }));
}

/** What lots have in common, each kind as a table of its own with a number. */
const CODED = {
  places: ['domain_id', 'branch', 'postal', 'state'],
  cars: ['domain_id', 'currency', 'title', 'vehicle_type', 'body_type', 'fuel', 'cm3', 'year'],
  kinds: ['manufacturer_id', 'model_id', 'year'],
} as const;

/** Reads the lots into `costs.lots`, and numbers what many of them have in common. */
async function codeLots(connection: DuckDBConnection, select: string): Promise<void> {
  const keys = Object.entries(CODED).map(([name, columns]) => `hash(${columns.join(', ')}) as ${name}_key`);
  await connection.run(
    `create or replace table costs.lots as select *, ${keys.join(', ')} from (\n${select}\n)`,
  );
  for (const [name, columns] of Object.entries(CODED))
    await connection.run(`create or replace table costs.${name} as
      select ${name}_key, row_number() over () - 1 as number, ${columns.map((column) => `any_value(${column}) as ${column}`).join(', ')}
      from costs.lots group by ${name}_key`);
}

const textOrNull = (value: unknown): string | null =>
  value === null || value === undefined ? null : String(value);
const numberOrNull = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(value);

/** A car and place of costs by columns of CODED. */
export const carOf = (row: Row): CostCar => ({
  source: numberOrNull(row.domain_id),
  currency: textOrNull(row.currency),
  branch: textOrNull(row.branch),
  postal: textOrNull(row.postal),
  state: textOrNull(row.state),
  title: textOrNull(row.title),
  vehicleType: textOrNull(row.vehicle_type),
  bodyType: textOrNull(row.body_type),
  fuel: textOrNull(row.fuel),
  cm3: numberOrNull(row.cm3),
  year: numberOrNull(row.year),
});

async function readCoded(connection: DuckDBConnection): Promise<Coded> {
  const of = (name: keyof typeof CODED) => rows(connection, `from costs.${name} order by number`);
  const kinds = await rows(
    connection,
    `select kinds.*, manufacturer_name as make, model_name as model
     from costs.kinds
     left join dim_manufacturers using (manufacturer_id)
     left join dim_models using (model_id)
     order by number`,
  );
  const prices = await readPrices(connection);
  return {
    places: (await of('places')).map(carOf),
    cars: (await of('cars')).map(carOf),
    kinds: kinds.map((row) => ({
      make: textOrNull(row.make),
      model: textOrNull(row.model),
      modelId: numberOrNull(row.model_id),
      year: numberOrNull(row.year),
    })),
    medianOf: medianFinder(prices),
    currencies: [...new Set(prices.map(({ currency }) => currency))],
  };
}

const readPrices = async (connection: DuckDBConnection): Promise<MarketPrice[]> =>
  (await rows(connection, 'from costs.market_prices')).map((row) => ({
    source: Number(row.domain_id),
    country: String(row.country),
    modelId: Number(row.model_id),
    year: Number(row.year),
    currency: String(row.currency),
    median: Number(row.price_median),
  }));

/** Lots of `costs.lots` as numbers, those that are alike together. */
const LOTS = `select
    cast(lot_id as double) as lot,
    cast(places.number as integer) as place,
    cast(cars.number as integer) as car,
    cast(kinds.number as integer) as kind,
    likely, estimate, low_80, high_80, buy_now
  from costs.lots
  inner join costs.places using (places_key)
  inner join costs.cars using (cars_key)
  inner join costs.kinds using (kinds_key)
  order by car, place`;

async function landLots(
  connection: DuckDBConnection,
  schedule: Schedule,
  numberOfRow: RowNumber,
): Promise<void> {
  const coded = await readCoded(connection);
  // An appender that writes to DuckDB ends a result that is read from the same connection, so all lots are read first.
  const lots = await readLots(connection);
  const [texts, rowLists] = [numberTexts(), numberTexts()];
  for (const [number, destination] of schedule.destinations.entries()) {
    const { append, close } = await openNumbers(connection, 'costs.landed', number);
    const { rowOf, shared } = rowsFor({
      schedule,
      coded,
      destination,
      numberOf: texts.of,
      numberOfRows: rowLists.of,
      numberOfRow,
    });
    for (const block of lots) for (let at = 0; at < block.length; at += LOT_NUMBERS) append(rowOf(block, at));
    close();
    for (const [table, rowsOfTable] of Object.entries(shared))
      await insert(
        connection,
        table,
        rowsOfTable.map((row, place) => ({ destination: number, number: place, ...row })),
      );
  }
  await insert(connection, 'texts', texts.all());
  const lists = rowLists.all().map(({ number, text }) => ({
    number,
    cost_rows: [...new Set(text.split(' ').map(Number))].sort((a, b) => a - b),
  }));
  await insert(connection, 'row_lists', lists);
  const destinations = schedule.destinations.map(({ name, isDefault, currency, country }, number) => ({
    number,
    destination: name,
    is_default: isDefault,
    currency,
    country,
  }));
  await insert(connection, 'destinations', destinations);
  await insert(connection, 'rates', ratesTo(schedule, coded));
  for (const name of ['lots', ...Object.keys(CODED)]) await connection.run(`drop table costs.${name}`);
}

/** The rates from the currencies of market prices to those of destinations. */
function ratesTo({ destinations, rate }: Schedule, { currencies }: Coded) {
  const pairs = new Set(
    destinations.flatMap(({ currency }) => currencies.map((from) => JSON.stringify([from, currency]))),
  );
  return [...pairs].flatMap((pair) => {
    const [from_currency, to_currency] = JSON.parse(pair) as [string, string];
    const found = rate(from_currency, to_currency);
    return found === undefined
      ? []
      : [{ from_currency, to_currency, rate: found.factor.digits / found.factor.power }];
  });
}

/** Writes rows into a table of the database `costs`. */
async function insert(connection: DuckDBConnection, table: string, found: readonly object[]): Promise<void> {
  const columns = await rows(
    connection,
    `select column_name, data_type from duckdb_columns() where database_name = 'costs' and table_name = ${literal(table)}`,
  );
  const types = Object.fromEntries(
    columns.map(({ column_name, data_type }) => {
      const [type, list] = String(data_type).split('[');
      return [String(column_name), list === undefined ? type : [type]];
    }),
  );
  const given = `from_json(${literal(JSON.stringify(found))}, ${literal(JSON.stringify([types]))})`;
  await connection.run(`insert into costs.${table} by name select unnest(${given}, recursive := true)`);
}

/** The numbers of LOTS, lot by lot, in blocks; NaN for null. */
async function readLots(connection: DuckDBConnection): Promise<Float64Array[]> {
  const result = await connection.stream(LOTS);
  const blocks: Float64Array[] = [];
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return blocks;
    const { rowCount } = chunk;
    const block = new Float64Array(LOT_NUMBERS * rowCount);
    for (let column = 0; column < LOT_NUMBERS; column += 1) {
      const vector = chunk.getColumnVector(column);
      for (let row = 0; row < rowCount; row += 1)
        block[LOT_NUMBERS * row + column] = numberIn(vector.getItem(row));
    }
    blocks.push(block);
  }
}

/** A number of a column, NaN for null. */
const numberIn = (value: unknown): number =>
  value === null || value === undefined ? Number.NaN : Number(value);
