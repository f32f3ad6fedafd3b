import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { literal, row, rows } from '../../duck/session.js';
import { type Factor, factorsOf, LEVEL_FACTORS, LINE_FACTORS, SEGMENTS } from './design.js';
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
  const levels = coded.map((name) => `coalesce(cast(${name} as varchar), 'unknown') as ${name}`).join(', ');
  await connection.run(`create or replace temp view fit_inputs as
    select
      * replace (cast(priced_month as date) as priced_month),
      coalesce(manufacturer_id, -1) as make, coalesce(model_id, -1) as model, coalesce(generation_id, -1) as generation
    from price_inputs where market = ${literal(market)} and currency = ${literal(currency)}`);
  await connection.run(`create or replace table fit.levels as
    select factor, level, row_number() over (partition by factor order by level) - 1 as code
    from (select distinct factor, level
      from (unpivot (select ${levels} from fit_inputs) on ${coded.join(', ')} into name factor value level))`);
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
  const month = `greatest(0, least(${last}, date_diff('month', date ${literal(first)}, i.priced_month)))`;
  const values = {
    age: 'i.age_years',
    mileage: `i.odometer_km / 10000 - ${usual} * i.age_years`,
    month,
  };
  const codes = LEVEL_FACTORS.map((name, i) => `${factors[i]?.offset} + ${name}_levels.code as "${name}"`);
  const lines = LINE_FACTORS.flatMap((name) => {
    const factor = factors.find((each) => each.name === name);
    return factor === undefined ? [] : onLine(factor, values[name]);
  });
  const segments = SEGMENTS.map((name) => `${name}_levels.code as segment_${name}`);
  const joins = [...new Set<string>([...LEVEL_FACTORS, ...SEGMENTS])].map(
    (name) => `join fit.levels ${name}_levels
      on ${name}_levels.factor = '${name}' and ${name}_levels.level = coalesce(cast(i.${name} as varchar), 'unknown')`,
  );
  return `select
      i.lot_id::double as lot, l.leaf::integer as leaf,
      (domain_id_levels.code * 2 + (i.odometer_km is null)::integer)::integer as noise,
      ln(i.price) as log_price, ${month}::integer as month,
      ${[...codes, ...lines, ...segments].join(', ')}
    from fit_inputs i join fit.leaves l using (make, model, generation) ${joins.join('\n')}
    order by i.priced_at, i.lot_id`;
}

/** The knot at or below a value, as a coefficient, and how far it lies on the way to the next one. */
function onLine({ name, offset, knots = [] }: Factor, value: string): string[] {
  const list = `[${knots.join(', ')}]::double[]`;
  const below = `greatest(1, len(list_filter(${list}, lambda knot: knot <= ${value})))`;
  const knot = (place: string): string => `list_extract(${list}, ${place})`;
  const share = `(${value} - ${knot(below)}) / (${knot(`${below} + 1`)} - ${knot(below)})`;
  return [
    `case when ${value} is not null then ${offset} + ${below} - 1 end as ${name}_knot`,
    `greatest(0, coalesce(${share}, 0)) as ${name}_share`,
  ];
}
