import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { packageFile } from '../../config/package-root.js';
import { literal, literals, rows } from '../../duck/session.js';
import { CODES, NUMBERS } from './blocks.js';
import { type Factor, factorsOf, LEVEL_FACTORS, SEGMENTS } from './design.js';
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
  return found as readonly Market[];
}

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
  return {
    rows: await writeRows(connection, rowsSql(factors, market), factors, join(folder, 'price_rows.tmp')),
    factors,
    tree: nodes.map(({ parent, depth }) => ({ parent: Number(parent), depth: Number(depth) })),
    months: market.months.length,
    /** Number of classes of noise. */
    noises: 2 * (levels.get('domain_id')?.length ?? 0),
  };
}

/** A SELECT of the lots of a market with the columns NUMBERS and CODES of a block. */
function rowsSql(
  factors: readonly Factor[],
  { number, market, currency, first, months, usual }: Market,
): string {
  const offsets = new Map(factors.map(({ name, offset }) => [name, offset]));
  const month = `greatest(0, least(${months.length - 1}, date_diff('month', date ${literal(first)}, priced_month)))`;
  const columns: Readonly<Record<string, string>> = {
    lot: 'lot_id',
    log_price: 'ln(price)',
    age: 'age_years',
    mileage: `odometer_km / 10000 - ${usual} * age_years`,
    leaf: 'node',
    noise: `${codeOf('domain_id')} * 2 + (odometer_km is null)::integer`,
    month,
    month_knot: `${offsets.get('month')} + ${month}`,
    ...Object.fromEntries(LEVEL_FACTORS.map((name) => [name, `${offsets.get(name)} + ${codeOf(name)}`])),
    ...Object.fromEntries(SEGMENTS.map((name) => [`segment_${name}`, codeOf(name)])),
  };
  return `select
      ${NUMBERS.map((name) => `coalesce((${columns[name]})::double, 'nan'::double) as "${name}"`).join(', ')},
      ${CODES.map((name) => `(${columns[name]})::integer as "${name}"`).join(', ')}
    from fit_inputs
    inner join fit.node_names as nodes using (make, model, generation)
    where fit_inputs.market = ${literal(market)} and currency = ${literal(currency)} and nodes.market = ${number}
    order by priced_at, lot_id`;
}

/** The code of a level of a lot. */
const codeOf = (name: string): string =>
  `enum_code(coalesce(cast(fit_inputs.${name} as varchar), 'unknown')::fit.level_${name})`;
