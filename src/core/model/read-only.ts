import type { DuckDBConnection } from '@duckdb/node-api';
import { insteadOf } from '../../base/config/gone.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { literal } from '../../base/duck/session.js';
import type { Modelling } from './own-models.js';
import { namesIn, type SqlTree, treeOf } from './sql-tree.js';
import { planModelTests } from './test-sql.js';

/** A query that only reads. */
export interface ReadQuery {
  /** What DuckDB runs: the checked text, behind `explain` if the user asked for the plan. */
  readonly sql: string;
  /** The query itself, without `explain`. */
  readonly select: string;
  /** Picks the tables that the query needs: those it names, or all if it may read any. */
  readonly needed: (tables: readonly string[]) => readonly string[];
}

/**
 * Table functions that only read. A SELECT may also call functions that write files (`enable_logging`,
 * `enable_profiling`) or run SQL that the parse tree does not show (`query`, `json_execute_serialized_sql`).
 */
const READING =
  /^(duckdb_\w+|pragma_\w+|parquet_\w+|read_(parquet|csv|csv_auto|text|blob|json\w*|ndjson\w*)|sniff_csv|glob|query_table|range|generate_series|unnest|repeat|repeat_row|json_each|json_tree|summary|histogram|histogram_values|icu_calendar_names|pg_timezone_names|test_all_types|test_vector_types)$/;

/** Table functions that list tables, or read a table that the tree does not name, by its files or in another way. */
const CATALOG = /^(duckdb_|pragma_|query_table$|histogram|read_|parquet_)/;

/** The `explain` at the beginning of a text. Whatever this matches, the rest is checked by itself. */
const GAP = String.raw`(?:\s|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/)*`;
const EXPLAIN = new RegExp(`^${GAP}explain\\b(?:${GAP}(analyze)\\b)?`, 'i');

/** Checks that the table functions of a parse tree only read. Throws QUERY_FAILED. */
export function checkFunctions(tree: unknown): void {
  for (const { type, function: called } of nodesOf(tree)) {
    if (type !== 'TABLE_FUNCTION') continue;
    const name = functionName(called);
    if (!READING.test(name)) throw refused(`only queries are allowed, and ${name}() does more than read`);
  }
}

/**
 * Checks that a text is one query that only reads. DuckDB's parser gives a tree for SELECT alone, and the tree must not
 * call a function that writes (docs/decisions/0021-queries-by-their-tree.md). Throws QUERY_FAILED.
 */
export async function readQuery(connection: DuckDBConnection, text: string): Promise<ReadQuery> {
  // DuckDB would run only the text before it, and not the text that was checked.
  if (text.includes('\0')) throw refused('the query holds a NUL character');
  const [prefix, analyze] = EXPLAIN.exec(text) ?? [''];
  const select = text.slice(prefix.length);
  const tree = await treeOf(connection, select);
  if (tree.error) throw await refusal(connection, select, tree);
  const count = tree.statements?.length ?? 0;
  if (count === 0) throw refused('the query is empty');
  if (count > 1) throw refused(`expected one statement and found ${count}`);
  checkFunctions(tree);
  const sql = prefix === '' ? select : `explain ${analyze ?? ''}\n${select}`;
  return { sql, select, needed: (tables) => neededOf(tree, tables) };
}

/** Checks that data tests only read, since users write some of them. Throws QUERY_FAILED. */
export async function checkTests(connection: DuckDBConnection, { models, checks }: Modelling): Promise<void> {
  for (const { model, test, sql } of [...models.flatMap(planModelTests), ...checks])
    await readQuery(connection, sql).catch((cause: unknown) => {
      throw refused(`test ${test} of ${model}: ${messageOf(cause)}`);
    });
}

/** What to do about a query that failed, on the command line. */
export const HINTS = {
  tables: 'lotlake tables lists what there is; lotlake describe <table> lists its columns',
  files:
    "a query reads tables by name, such as from lots where domain_id = 3; of files it reads only all of a table, '<output>/lake/current/<table>/**/*.parquet'; a bare DuckDB reads any file",
  keep: 'to keep a result, use --format and redirect the output',
  plan: 'leave --format out, or use json, csv or arrow',
} as const;

/** The error of a query that DuckDB could not run, with DuckDB's message. */
export function queryError(error: unknown): LotlakeError {
  const message = messageOf(error).replace(/^Failed to extract statements: /, '');
  const [, missing = ''] = /^Catalog Error: Table with name (\w+) does not exist/.exec(message) ?? [];
  const hint = message.includes('file system operations are disabled')
    ? HINTS.files
    : (insteadOf(missing) ?? HINTS.tables);
  return new LotlakeError('QUERY_FAILED', message, { cause: error, hint });
}

/** Throws the error of a query that DuckDB could not run. */
export const failQuery = (error: unknown): never => {
  throw queryError(error);
};

/** The error of a query that lotlake does not run. */
export const refused = (message: string, hint?: string): LotlakeError =>
  new LotlakeError('QUERY_FAILED', message, { outcome: 'usage', hint });

/** Says why DuckDB's parser gives no tree of a text. */
async function refusal(connection: DuckDBConnection, sql: string, tree: SqlTree): Promise<LotlakeError> {
  const statements = await connection.extractStatements(sql).catch(queryError);
  if (statements instanceof LotlakeError) return statements;
  if (tree.error_type === 'parser') return queryError(tree.error_message);
  const reason = await connection.prepare(`from query(${literal(sql)})`).then(() => '', messageOf);
  const pivot = "write pivot <table> on <column> in ('a', 'b') using <aggregate>";
  if (/pivot/i.test(reason)) return refused('a pivot has to name its values', pivot);
  if (statements.count > 1) return refused(`expected one statement and found ${statements.count}`);
  return refused(
    'only queries are allowed: select, from, with, values, describe, summarize, show, pivot, explain',
    HINTS.keep,
  );
}

function neededOf(tree: SqlTree, tables: readonly string[]): readonly string[] {
  for (const { type, table_name: name, function: called } of nodesOf(tree)) {
    if (type === 'SHOW_REF' && name !== '') return tables;
    if (type === 'TABLE_FUNCTION' && CATALOG.test(functionName(called))) return tables;
  }
  const named = namesIn(tree);
  // Any other name is a view of the catalog or a typo. For a typo, DuckDB suggests a table if it sees all of them.
  return named.every((name) => tables.includes(name))
    ? tables.filter((name) => named.includes(name))
    : tables;
}

/** The name of a function in the tree, lower case. */
export const functionName = (called: unknown): string =>
  String(Reflect.get(Object(called), 'function_name')).toLowerCase();

/** Every node of a tree, itself first. */
export function* nodesOf(tree: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (typeof tree !== 'object' || tree === null) return;
  if (!Array.isArray(tree)) yield { ...tree };
  for (const member of Object.values(tree)) yield* nodesOf(member);
}
