import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { literal, row, rows } from '../../duck/session.js';
import { type Factor, factorsOf, LEVEL_FACTORS, SEGMENTS } from './design.js';
import type { Tree } from './fit.js';
import { PricedRows } from './rows.js';

/** A market whose prices are compared with each other: auctions or asking prices, in one currency. */
export interface Market {
  readonly market: string;
  readonly currency: string;
}

/** The lots of a market in numbers, and what the numbers mean. */
export interface Coding {
  readonly rows: PricedRows;
  readonly factors: readonly Factor[];
  readonly tree: Tree;
  /** Number of months, and the first of them. */
  readonly months: number;
  readonly firstMonth: string;
}

/** A column as the text of its level. */
const levelOf = (column: string): string => `coalesce(cast(${column} as varchar), 'unknown')`;

/** Months before these are counted as the first one. */
const MOST_MONTHS = 120;

/**
 * Turns the lots of a market into numbers. `fit.levels` and `fit.leaves` say what levels and generations they stand for.
 * @param folder where a file of numbers may lie for the time of the fit
 */
export async function codeRows(
  connection: DuckDBConnection,
  { market, currency }: Market,
  folder: string,
): Promise<Coding> {
  const coded = [...new Set<string>([...LEVEL_FACTORS, ...SEGMENTS])];
  const levels = coded.map((name) => `${levelOf(name)} as ${name}`).join(', ');
  await connection.run(`create or replace temp view fit_inputs as
    select
      * replace (cast(priced_month as date) as priced_month),
      coalesce(manufacturer_id, -1) as make, coalesce(model_id, -1) as model, coalesce(generation_id, -1) as generation
    from price_inputs where market = ${literal(market)} and currency = ${literal(currency)}`);
  await connection.run(`create or replace table fit.levels as
    select factor, level, row_number() over (partition by factor order by level) - 1 as code
    from (select distinct factor, level
      from (unpivot (select ${levels} from fit_inputs) on ${coded.join(', ')} into name factor value level))`);
  for (const name of coded)
    await connection.run(`drop type if exists fit.level_${name};
      create type fit.level_${name} as enum (select level from fit.levels where factor = '${name}' order by code)`);
  await connection.run(`create or replace table fit.leaves as
    select *,
      dense_rank() over (order by make, model, generation) - 1 as leaf,
      dense_rank() over (order by make, model) - 1 as model_place,
      dense_rank() over (order by make) - 1 as make_place
    from (select distinct make, model, generation from fit_inputs)`);
  const span = await row(
    connection,
    `select
      cast(greatest(min(priced_month), max(priced_month) - interval ${MOST_MONTHS} month) as date)::varchar as first,
      date_diff('month', first::date, max(priced_month)) + 1 as months,
      median(odometer_km / age_years) filter (where age_years >= 1) / 10000 as usual
    from fit_inputs where price is not null`,
  );
  const months = Number(span.months);
  const factors = factorsOf(await sizes(connection), months);
  const sql = rowsSql(factors, {
    first: String(span.first),
    last: months - 1,
    usual: Number(span.usual ?? 0),
  });
  return {
    rows: await PricedRows.write(connection, sql, join(folder, 'price_rows.tmp')),
    ...{
      factors,
      tree: await readTree(connection),
      months,
      firstMonth: String(span.first),
    },
  };
}

async function sizes(connection: DuckDBConnection): Promise<number[]> {
  const counts = await rows(connection, 'select factor, count(*) as size from fit.levels group by factor');
  return LEVEL_FACTORS.map((name) => Number(counts.find(({ factor }) => factor === name)?.size ?? 0));
}

/** Models follow the generations, and makes the models. */
async function readTree(connection: DuckDBConnection): Promise<Tree> {
  const leaves = await rows(
    connection,
    'select distinct model_place, make_place, leaf from fit.leaves order by leaf',
  );
  const models = new Map(leaves.map((leaf) => [Number(leaf.model_place), Number(leaf.make_place)]));
  const makes = new Set(models.values()).size;
  const parents = [
    ...leaves.map((leaf) => leaves.length + Number(leaf.model_place)),
    ...[...models.values()].map((make) => leaves.length + models.size + make),
    ...Array<number>(makes).fill(-1),
  ];
  const depths = parents.map((_, i) => (i < leaves.length ? 0 : i < leaves.length + models.size ? 1 : 2));
  return { parents, depths };
}

function rowsSql(
  factors: readonly Factor[],
  { first, last, usual }: { first: string; last: number; usual: number },
): string {
  const place = { age: 'age_years', mileage: `odometer_km / 10000 - ${usual} * age_years` };
  const month = `greatest(0, least(${last}, date_diff('month', date ${literal(first)}, priced_month)))`;
  const codes = LEVEL_FACTORS.map(
    (name, i) => `(${factors[i]?.offset} + ${codeOf(name)})::integer as "${name}"`,
  );
  const lines = factors.flatMap((factor) => (factor.knots === undefined ? [] : onLine(factor)));
  const below = factors.flatMap(({ name, knots = [] }) =>
    name === 'age' || name === 'mileage' ? [`${belowOf(place[name], knots)} as ${name}_below`] : [],
  );
  const segments = SEGMENTS.map((name) => `${codeOf(name)}::integer as segment_${name}`);
  return `select
      i.lot_id::double as lot, l.leaf::integer as leaf,
      (${codeOf('domain_id')} * 2 + (i.odometer_km is null)::integer)::integer as noise,
      ln(i.price) as log_price, i.month_at as month,
      ${[...codes, ...lines, ...segments].join(', ')}
    from (
      select *, ${place.age} as age_at, ${place.mileage} as mileage_at, ${month}::integer as month_at, ${below.join(', ')}
      from fit_inputs
    ) i join fit.leaves l using (make, model, generation)
    order by i.priced_at, i.lot_id`;
}

/** The code of a level of the lot `i`. */
const codeOf = (name: string): string => `enum_code(${levelOf(`i.${name}`)}::fit.level_${name})`;

/** The number of the last knot at or below a value, from 1; also 1 below all of them. */
const belowOf = (value: string, knots: readonly number[]): string =>
  ['1', ...knots.slice(1).map((knot) => `(${value} >= ${knot})::integer`)].join(' + ');

/** The knot at or below a value, as a coefficient, and how far the value lies on the way to the next one. */
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
