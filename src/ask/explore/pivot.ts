import type { DuckDBConnection } from '@duckdb/node-api';
import { count } from '../../base/config/printable.js';
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
type PivotTable = Pick<CatalogTable, 'name' | 'grain' | 'columns' | 'rows'>;

/** The rows of a table, or a measure of them, with the query that gives them. Throws QUERY_FAILED. */
export async function pivotOf(connection: DuckDBConnection, table: PivotTable, pivot: Pivot): Promise<Html> {
  const sql = await pivotSql(connection, table, pivot);
  const isRows = /^select \*/.test(sql);
  const whole = { sql: sql.replace(/\nlimit \d+$/, ''), rows: isRows && !pivot.where ? table.rows : null };
  const shown = await resultOf(connection, sql, whole);
  return html`${!isRows && (await countedRows(connection, table, pivot))}${shown}${rowsLink(sql, 'As a query')}`;
}

/** Facts of rows that a pivot says how many have. */
const FACTS = [
  { name: 'is_observed', type: 'BOOLEAN', condition: 'is_observed', words: 'observed' },
  { name: 'outcome', type: 'VARCHAR', condition: "outcome = 'sold'", words: 'sold' },
] as const;

/** Which rows a pivot counts, in a sentence. */
async function countedRows(connection: DuckDBConnection, table: PivotTable, pivot: Pivot): Promise<Html> {
  const { grain, columns } = table;
  const facts: { readonly condition: string; readonly words: string }[] = FACTS.filter(({ name, type }) =>
    columns.some((column) => column.name === name && column.type === type && name !== pivot.of),
  );
  const of = columns.find(({ name }) => name === pivot.of)?.name;
  if (of !== undefined) facts.push({ condition: `${identifier(of)} is not null`, words: `with ${of}` });
  const counts = facts.map(({ condition }, i) => `, count(*) filter (where ${condition}) as fact_${i}`);
  const sql = `select count(*) as lines${counts.join('')}\n${fromOf(table, pivot)}`;
  await readQuery(connection, sql);
  const [found = {}] = await rows(connection, sql);
  const parts = facts.map(({ words }, i) => `${count(found[`fact_${i}`])} ${words}`);
  const what = grain.replace(/^one row /, '').replace(/[;.]\s.*/s, '');
  return html`<p class="note">Rows: ${what}; ${count(found.lines)} count here${parts.length > 0 && `, of them ${parts.join(', ')}`}.</p>`;
}

const fromOf = ({ name }: PivotTable, { where }: Pivot): string =>
  `from ${identifier(name)}${where?.trim() ? `\nwhere ${where.trim()}` : ''}`;

/** SQL of a pivot; the values of `across` are looked up. Unknown columns do not count. */
async function pivotSql(connection: DuckDBConnection, table: PivotTable, pivot: Pivot): Promise<string> {
  const column = (name: string | undefined): string | undefined => {
    const found = table.columns.find((each) => each.name === name);
    return found === undefined ? undefined : identifier(found.name);
  };
  const from = fromOf(table, pivot);
  const by = [column(pivot.by), column(pivot.by2)].filter((name) => name !== undefined);
  const across = column(pivot.across);
  const isOfAll = by.length === 0 && across === undefined;
  if (isOfAll && pivot.of === undefined) return `select *\n${from}\nlimit 100`;
  const measure = measureOf(pivot.measure, column(pivot.of));
  const filtered =
    across === undefined ? [] : await topValues(connection, `select ${across} as value ${from}`);
  const cells = filtered.map(
    (value) =>
      `${measure} filter (where cast(${across} as varchar) = ${literal(value)}) as ${identifier(value)}`,
  );
  const lines = [...by, ...cells, `${measure} as ${cells.length === 0 ? 'value' : identifier('all')}`];
  const byTime = /^(DATE|TIMESTAMP)/.test(table.columns.find((each) => each.name === pivot.by)?.type ?? '');
  const order = byTime ? '1' : `${cells.length === 0 ? 'value' : identifier('all')} desc nulls last`;
  return `select\n  ${lines.join(',\n  ')}\n${from}\ngroup by all\norder by ${order}\nlimit 1000`;
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
