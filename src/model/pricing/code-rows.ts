import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { packageFile } from '../../config/package-root.js';
import { literal, literals, rows } from '../../duck/session.js';
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
  const sql = rowsSql(factors, market);
  return {
    rows: await writeRows(connection, sql, join(folder, 'price_rows.tmp')),
    factors,
    tree: nodes.map(({ parent, depth }) => ({ parent: Number(parent), depth: Number(depth) })),
    months: market.months.length,
    /** Number of classes of noise. */
    noises: 2 * (levels.get('domain_id')?.length ?? 0),
  };
}

function rowsSql(
  factors: readonly Factor[],
  { number, market, currency, first, months, usual }: Market,
): string {
  const place = { age: 'age_years', mileage: `odometer_km / 10000 - ${usual} * age_years` };
  const month = `greatest(0, least(${months.length - 1}, date_diff('month', date ${literal(first)}, priced_month)))`;
  const codes = LEVEL_FACTORS.map(
    (name, i) => `(${factors[i]?.offset} + ${codeOf(name)})::integer as "${name}"`,
  );
  const lines = factors.flatMap((factor) => (factor.knots === undefined ? [] : onLine(factor)));
  const below = factors.flatMap(({ name, knots = [] }) =>
    name === 'age' || name === 'mileage' ? [`${belowOf(place[name], knots)} as ${name}_below`] : [],
  );
  const segments = SEGMENTS.map((name) => `${codeOf(name)}::integer as segment_${name}`);
  return `select
      i.lot_id::double as lot, l.node::integer as leaf,
      (${codeOf('domain_id')} * 2 + (i.odometer_km is null)::integer)::integer as noise,
      ln(i.price) as log_price, i.month_at as month,
      ${[...codes, ...lines, ...segments].join(', ')}
    from (
      select *, ${place.age} as age_at, ${place.mileage} as mileage_at, ${month}::integer as month_at, ${below.join(', ')}
      from fit_inputs where market = ${literal(market)} and currency = ${literal(currency)}
    ) i join fit.node_names l
      on l.market = ${number} and i.make = l.make and i.model = l.model and i.generation = l.generation
    order by i.priced_at, i.lot_id`;
}

/** The code of a level of the lot `i`. */
const codeOf = (name: string): string =>
  `enum_code(coalesce(cast(i.${name} as varchar), 'unknown')::fit.level_${name})`;

/** The number of the last knot at or below a value, from 1; also 1 below all of them. */
const belowOf = (value: string, knots: readonly number[]): string =>
  ['1', ...knots.slice(1).map((knot) => `(${value} >= ${knot})::integer`)].join(' + ');

/** The coefficient of the knot at or below a value, and the share of the way to the next knot. */
function onLine({ name, offset, knots = [] }: Factor): string[] {
  if (name === 'month') return [`(${offset} + i.month_at)::integer as month_knot`, '0.0 as month_share'];
  const knot = (after: string): string =>
    `list_extract([${knots.join(', ')}]::double[], i.${name}_below${after})`;
  const share = `(i.${name}_at - ${knot('')}) / (${knot(' + 1')} - ${knot('')})`;
  return [
    `(${offset} + i.${name}_below - 1)::integer as ${name}_knot`,
    `greatest(0, coalesce(${share}, 0)) as ${name}_share`,
  ];
}
