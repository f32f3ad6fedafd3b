import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { packageFile } from '../../../base/config/package-root.js';
import { literal, literals, rows } from '../../../base/duck/session.js';
import { CODES, NUMBERS } from './blocks.js';
import { type Factor, factorsOf, GROUPS, LEVEL_FACTORS, SEGMENTS } from './design.js';
import { writeRows } from './rows.js';

/** A market whose prices are compared with each other: auctions or asking prices, in one currency. */
export interface Market {
  readonly number: number;
  readonly market: string;
  readonly currency: string;
  /** Date of its first month. */
  readonly first: string;
  /** All of its months, such as 2026-11. */
  readonly months: readonly string[];
  /** Usual distance of a year, 10,000 km. */
  readonly usual: number;
}

/** The lots of a market as numbers, and the meaning of the numbers. */
export type Coding = Readonly<Awaited<ReturnType<typeof codeRows>>>;

/** Fewest prices that a fit needs, and that a judged month needs before it. */
export const FEWEST = 100;

/** Fewest prices that an effect of a group needs. */
const FEWEST_OF_GROUP = 5;

/** Columns whose values are levels. */
const CODED: readonly string[] = [...new Set([...LEVEL_FACTORS, ...SEGMENTS])];

/**
 * Writes the meaning of the numbers of a fit into tables of the database `fit`: `markets`, `levels` of the columns,
 * `segments` of them, and `node_names`, the tree of makes, models and generations. Returns the markets.
 */
export async function nameNumbers(connection: DuckDBConnection): Promise<readonly Market[]> {
  await connection.run(`set variable coded = ${literals(CODED)};
    set variable segments = ${literals(SEGMENTS)};
    set variable fewest = ${FEWEST}`);
  const found: readonly unknown[] = await rows(connection, packageFile('sql/pricing/name_numbers.sql'));
  await connection.run(`create or replace table fit.groups as
    select
      markets.number as market,
      name,
      kind,
      key,
      level,
      first_part,
      second_part,
      prices,
      row_number() over (partition by markets.number, name order by level) - 1 as code
    from (${GROUPS.map(groupSql).join(' union all ')}) as found
    inner join fit.markets as markets using (market, currency)`);
  return found as readonly Market[];
}

/** A number for the values of some columns; null if one of them is. */
const keyOf = (columns: readonly string[]): string =>
  `case when ${areKnown(columns)} then hash(${columns.join(', ')}) end`;

const areKnown = (columns: readonly string[]): string =>
  columns.map((column) => `${column} is not null`).join(' and ');

/** A SELECT of the groups of a name that have enough prices. */
const groupSql = ({ name, key }: (typeof GROUPS)[number], kind: number): string =>
  `select
    market,
    currency,
    ${literal(name)} as name,
    ${kind} as kind,
    ${keyOf(key)} as key,
    concat_ws('/', ${key}) as level,
    cast(${key[0]} as varchar) as first_part,
    cast(${key[1] ?? 'null'} as varchar) as second_part,
    count(*) as prices
  from price_inputs
  where price is not null and ${areKnown(key)}
  group by market, currency, ${key}
  having count(*) >= ${FEWEST_OF_GROUP}`;

/**
 * Turns the lots of a market into numbers.
 * @param folder for a file of numbers, which exists as long as the fit runs
 */
export async function codeRows(connection: DuckDBConnection, market: Market, folder: string) {
  const known = await rows(
    connection,
    `select factor, list(level order by code) as levels from fit.levels where market = ${market.number} group by factor`,
  );
  const levels = new Map(known.map((each) => [String(each.factor), [each.levels].flat().map(String)]));
  for (const [name, texts] of levels)
    await connection.run(`drop type if exists fit.level_${name};
      create type fit.level_${name} as enum (${texts.map(literal).join(', ')})`);
  const nodes = await rows(
    connection,
    `select node.depth, coalesce(parent.node, -1) as parent
    from fit.node_names node left join fit.node_names parent
      on parent.market = node.market and parent.depth = node.depth + 1 and parent.make = node.make
      and parent.model is not distinct from case when node.depth = 0 then node.model end
    where node.market = ${market.number} order by node.node`,
  );
  const factors = factorsOf(levels, market.months);
  const found = await rows(
    connection,
    `select name, list(dense_rank - 1 order by code) as parents
    from (select name, code, dense_rank() over (partition by name order by first_part) as dense_rank from fit.groups where market = ${market.number})
    group by name`,
  );
  return {
    rows: await writeRows(connection, rowsSql(factors, market), factors, join(folder, 'price_rows.tmp')),
    factors,
    tree: nodes.map(({ parent, depth }) => ({ parent: Number(parent), depth: Number(depth) })),
    months: market.months.length,
    /** Number of classes of noise: by source, whether sold at a Buy Now price, and whether the mileage is unknown. */
    noises: 4 * (levels.get('domain_id')?.length ?? 0),
    /** For each of GROUPS, the number of what its groups are within, by code. */
    groups: GROUPS.map(({ name }) => {
      const { parents = [] } = found.find((each) => each.name === name) ?? {};
      return Int32Array.from([parents].flat().map(Number));
    }),
  };
}

/** A SELECT of the lots of a market with the columns NUMBERS and CODES of a block. */
function rowsSql(
  factors: readonly Factor[],
  { number, market, currency, first, months, usual }: Market,
): string {
  const offsets = new Map(factors.map(({ name, offset }) => [name, offset]));
  const columns: Readonly<Record<string, string>> = {
    lot: 'lot_id',
    log_price: 'ln(price)',
    age: 'age_years',
    mileage: `odometer_km / 10000 - ${usual} * age_years`,
    age_slope: 'coalesce((least(age_years, 25) - 6) / 10, 0)',
    mileage_slope: `coalesce(least(greatest(odometer_km / 10000 - ${usual} * age_years, -10), 10) / 10, 0)`,
    log_buy_now: 'ln(buy_now)',
    ahead: "case when is_offered then greatest(0, date_diff('day', as_of, priced_at)) / 30.4375 end",
    leaf: 'node',
    noise: `${codeOf('domain_id')} * 4 + (fit_inputs.sold_by = 'buy_now')::integer * 2 + (odometer_km is null)::integer`,
    month: `greatest(0, least(${months.length - 1}, date_diff('month', date ${literal(first)}, priced_month)))`,
    ...Object.fromEntries(LEVEL_FACTORS.map((name) => [name, `${offsets.get(name)} + ${codeOf(name)}`])),
    ...Object.fromEntries(SEGMENTS.map((name) => [`segment_${name}`, codeOf(name)])),
    ...Object.fromEntries(GROUPS.map(({ name }) => [`group_${name}`, `coalesce(of_${name}.code, -1)`])),
  };
  const joins = GROUPS.map(
    ({ name, key }) => `left join (
        select key, code from fit.groups where market = ${number} and name = ${literal(name)}
      ) as of_${name} on of_${name}.key = ${keyOf(key.map((column) => `fit_inputs.${column}`))}`,
  );
  return `select
      ${NUMBERS.map((name) => `coalesce((${columns[name]})::double, 'nan'::double) as "${name}"`).join(', ')},
      ${CODES.map((name) => `(${columns[name]})::integer as "${name}"`).join(', ')}
    from fit_inputs
    inner join fit.node_names as nodes using (make, model, generation)
    cross join dim_settings
    ${joins.join('\n    ')}
    where fit_inputs.market = ${literal(market)} and currency = ${literal(currency)} and nodes.market = ${number}
    order by priced_at, lot_id`;
}

/** The code of a level of a lot. */
const codeOf = (name: string): string =>
  `enum_code(coalesce(cast(fit_inputs.${name} as varchar), 'unknown')::fit.level_${name})`;
