import type { DuckDBConnection } from '@duckdb/node-api';
import { identifier, literal, rows } from '../../base/duck/session.js';
import type { CatalogTable } from '../../core/model/dictionary.js';
import { readQuery, refused } from '../../core/model/read-only.js';
import { type Html, html } from '../page/html.js';
import { rowsLink } from './page-frame.js';
import { resultOf } from './result-view.js';

/** What a reader asks of a table: its rows, or a measure by one or two columns and across a third. */
export interface Pivot {
  readonly by?: string;
  readonly by2?: string;
  readonly across?: string;
  readonly measure?: string;
  readonly of?: string;
  readonly where?: string;
  /** Whether nulls are counted and examples taken. */
  readonly facts?: string;
}

export const MEASURES = ['count', 'sum', 'avg', 'median', 'min', 'max', 'count distinct'] as const;

/** Columns that `across` makes, the most frequent values of it. */
const ACROSS = 10;

/** What is known of a table that is pivoted. */
type PivotTable = Pick<CatalogTable, 'name' | 'columns' | 'rows'>;

/** The rows of a table, or a measure of them, with the query that gives them. Throws QUERY_FAILED. */
export async function pivotOf(connection: DuckDBConnection, table: PivotTable, pivot: Pivot): Promise<Html> {
  const sql = await pivotSql(connection, table, pivot);
  const whole = {
    sql: sql.replace(/\nlimit \d+$/, ''),
    rows: /^select \*/.test(sql) && !pivot.where ? table.rows : null,
  };
  return html`${await resultOf(connection, sql, whole)}${rowsLink(sql, 'As a query')}`;
}

/** SQL of a pivot; the values of `across` are looked up. Unknown columns do not count. */
async function pivotSql(connection: DuckDBConnection, table: PivotTable, pivot: Pivot): Promise<string> {
  const column = (name: string | undefined): string | undefined => {
    const found = table.columns.find((each) => each.name === name);
    return found === undefined ? undefined : identifier(found.name);
  };
  const from = `from ${identifier(table.name)}`;
  const where = pivot.where?.trim() ? `\nwhere ${pivot.where.trim()}` : '';
  const by = [column(pivot.by), column(pivot.by2)].filter((name) => name !== undefined);
  const across = column(pivot.across);
  const isOfAll = by.length === 0 && across === undefined;
  if (isOfAll && pivot.of === undefined) return `select *\n${from}${where}\nlimit 100`;
  const measure = measureOf(pivot.measure, column(pivot.of));
  const filtered =
    across === undefined ? [] : await topValues(connection, `select ${across} as value ${from}${where}`);
  const cells = filtered.map(
    (value) =>
      `${measure} filter (where cast(${across} as varchar) = ${literal(value)}) as ${identifier(value)}`,
  );
  const lines = [...by, ...cells, `${measure} as ${cells.length === 0 ? 'value' : identifier('all')}`];
  const byTime = /^(DATE|TIMESTAMP)/.test(table.columns.find((each) => each.name === pivot.by)?.type ?? '');
  const order = byTime ? '1' : `${cells.length === 0 ? 'value' : identifier('all')} desc nulls last`;
  return `select\n  ${lines.join(',\n  ')}\n${from}${where}\ngroup by all\norder by ${order}\nlimit 1000`;
}

function measureOf(measure: string | undefined, of: string | undefined): string {
  const name = MEASURES.find((each) => each === measure) ?? 'count';
  if (of === undefined && name === 'count') return 'count(*)';
  if (of === undefined) throw refused(`${name} of what? choose a column`);
  return name === 'count distinct' ? `count(distinct ${of})` : `${name}(${of})`;
}

async function topValues(connection: DuckDBConnection, select: string): Promise<string[]> {
  const sql = `select cast(value as varchar) as name from (${select}) where value is not null group by all order by count(*) desc, name limit ${ACROSS}`;
  await readQuery(connection, sql);
  return (await rows(connection, sql)).map(({ name }) => String(name));
}
