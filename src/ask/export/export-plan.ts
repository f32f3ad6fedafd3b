import { isDeepStrictEqual } from 'node:util';
import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { unknownName } from '../../base/config/unknown-name.js';
import { identifier } from '../../base/duck/session.js';
import type { CatalogTable, ColumnEntry, TableEntry } from '../../core/model/dictionary.js';
import { checkFunctions, refused } from '../../core/model/read-only.js';
import { type SqlTree, treeOf } from '../../core/model/sql-tree.js';
import type { ExportRequest } from './request.js';

/**
 * A table of an export with the query for its rows. Columns have their exported types. The key is empty if the export
 * lacks one of its columns.
 */
export type TablePlan = ReturnType<typeof planTable>;

/**
 * Plans every table of an export. Throws QUERY_NO_TABLE or QUERY_NO_COLUMN for an unknown table or column, and QUERY_FAILED
 * if the condition is not one expression over the table.
 * @param entries tables and marts of the snapshot
 * @param connection a session over the snapshot, with a view for each requested table
 */
export async function planExport(
  request: ExportRequest,
  entries: readonly PlannedTable[],
  connection: DuckDBConnection,
): Promise<TablePlan[]> {
  const plans: TablePlan[] = [];
  for (const table of request.tables) {
    const entry = entries.find(({ name }) => name === table);
    if (entry === undefined)
      throw unknownName('QUERY_NO_TABLE', 'there is no table', table, entries, 'lotlake tables');
    if (request.where !== undefined) await checkCondition(connection, table, request.where);
    const plan = planTable(request, entry, chosenColumns(entry, request.columns));
    await checkBinds(connection, plan);
    plans.push(plan);
  }
  return plans;
}

/** A table or mart with the tables and marts that it is computed from. */
type PlannedTable = TableEntry & Partial<Pick<CatalogTable, 'reads'>>;

function planTable({ profile, where }: ExportRequest, entry: PlannedTable, columns: readonly ColumnEntry[]) {
  const typeOf = (type: string): string => (profile === 'compat' ? compatType(type) : type);
  const selected = columns.map((column) => selectedAs(column, typeOf(column.type)));
  return {
    ...entry,
    key: entry.key.every((each) => columns.some(({ name }) => name === each)) ? entry.key : [],
    columns: columns.map((column) => ({ ...column, type: typeOf(column.type) })),
    sql: `select ${selected.join(', ')} from ${identifier(entry.name)}${whereClause(where)}`,
  };
}

/** Types that old readers know, as DuckDB writes them into Parquet: INT64, DOUBLE, BOOLEAN, UTF8, TIMESTAMP_MICROS, DATE. */
const KNOWN = /^(BIGINT|DOUBLE|BOOLEAN|VARCHAR|TIMESTAMP|TIMESTAMP WITH TIME ZONE|DATE)$/;
const INTEGER = /^(TINY|SMALL|UTINY|USMALL|U)?INT(EGER)?$/;
const NUMBER = /^(DECIMAL.*|FLOAT|HUGEINT|UHUGEINT|UBIGINT)$/;
const NESTED = /(\]|^STRUCT.*|^MAP.*|^JSON)$/;

/**
 * The type of a column in the compat profile (docs/decisions/0010-compat-profile.md): BIGINT for integers, DOUBLE for other
 * numbers, JSON text for lists and nested values, and text for the rest.
 */
function compatType(type: string): string {
  if (KNOWN.test(type)) return type;
  if (INTEGER.test(type)) return 'BIGINT';
  if (NUMBER.test(type)) return 'DOUBLE';
  return type.startsWith('TIMESTAMP') ? 'TIMESTAMP' : 'VARCHAR';
}

/** SQL that selects a column, cast to a type if that is not its own. */
function selectedAs({ name, type }: ColumnEntry, to: string): string {
  const column = identifier(name);
  if (to === type) return column;
  const value = to === 'VARCHAR' && NESTED.test(type) ? `to_json(${column})` : column;
  return `cast(${value} as ${to.toLowerCase()}) as ${column}`;
}

/** Unit of an amount whose currency stands in another column. */
const OF_ROW = 'currency of the row';

function chosenColumns(entry: TableEntry, wanted: readonly string[] | undefined): readonly ColumnEntry[] {
  // An export goes to others, whom hosts and folders do not concern.
  if (wanted === undefined) return entry.columns.filter(({ internal }) => internal === undefined);
  const names = new Set(wanted.map((each) => each.toLowerCase()));
  const isAmount = ({ name, unit }: ColumnEntry): boolean => names.has(name) && unit === OF_ROW;
  // An amount means nothing without its currency.
  if (entry.columns.some(isAmount) && entry.columns.some(({ name }) => name === 'currency'))
    names.add('currency');
  return [...names].map((name) => {
    const column = entry.columns.find((candidate) => candidate.name === name);
    if (column !== undefined) return column;
    const [message, command] = [`${entry.name} has no column`, `lotlake describe ${entry.name}`];
    throw unknownName('QUERY_NO_COLUMN', message, name, entry.columns, command);
  });
}

/** Lets DuckDB bind the query, since its message suggests the nearest columns for a missing one. Throws QUERY_FAILED. */
async function checkBinds(connection: DuckDBConnection, plan: TablePlan): Promise<void> {
  try {
    (await connection.prepare(plan.sql)).destroySync();
  } catch (error) {
    throw new LotlakeError('QUERY_FAILED', messageOf(error), {
      cause: error,
      outcome: 'usage',
      hint: `lotlake describe ${plan.name} lists the columns`,
    });
  }
}

/** The condition stands on lines of its own, so that a comment in it ends with it. */
const whereClause = (condition: string | undefined): string =>
  condition === undefined ? '' : ` where (\n${condition}\n)`;

/**
 * Checks that a text is one SQL expression, and does not end the expression to go on with more of a query or another
 * statement. Apart from its condition, the query must parse like the same query with the condition `true`. Subqueries
 * over tables of the lake are expressions. Throws QUERY_FAILED.
 */
async function checkCondition(connection: DuckDBConnection, table: string, condition: string): Promise<void> {
  const treeWith = (where: string): Promise<SqlTree> =>
    treeOf(connection, `select 1 from ${identifier(table)}${whereClause(where)}`);
  const tree = await treeWith(condition);
  if (tree.error) throw notOneExpression(tree.error_message ?? 'it cannot be parsed');
  const [first, ...others] = tree.statements ?? [];
  if (first === undefined || others.length > 0) throw notOneExpression('it holds another statement');
  const plain = (await treeWith('true')).statements?.[0]?.node;
  if (!isDeepStrictEqual({ ...first.node, where_clause: plain?.where_clause }, plain))
    throw notOneExpression('it ends the condition and goes on with more of a query');
  checkFunctions(tree);
}

const notOneExpression = (reason: string): LotlakeError =>
  refused(
    `--where is not one SQL expression: ${reason}`,
    "write a condition over the columns of the table, such as domain_id = 3 and sale_date >= '2026-11-01'",
  );
