import { statSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Model } from './model-files.js';
import { functionName, nodesOf, readQuery, refused } from './read-only.js';
import { treeOf } from './sql-tree.js';

/**
 * Checks the SELECT of a model of the user, and returns it without a semicolon at its end, so that it can stand in parentheses.
 * It names tables without a database, because that has another name in each place where the model runs, and a view
 * reads nothing but tables, because a reader of the lake reaches no other file. Throws QUERY_FAILED.
 */
export async function readModelSelect(
  connection: DuckDBConnection,
  { sql, exists = 'file' }: { readonly sql: string; readonly exists?: Model['exists'] },
): Promise<string> {
  const query = await readQuery(connection, sql);
  if (query.select !== sql) throw refused('a plan is no model; leave explain out');
  const tree = await treeOf(connection, sql);
  for (const { type, catalog_name, schema_name, table_name, function: called } of nodesOf(tree)) {
    const database = [catalog_name, schema_name].filter((part) => part !== '').join('.');
    if (type === 'BASE_TABLE' && !['', 'main'].includes(database))
      throw refused(
        `it reads ${database}.${table_name}; a model reads tables and marts by their names alone`,
      );
    if (type === 'TABLE_FUNCTION' && exists === 'view' && BEYOND_TABLES.test(functionName(called)))
      throw refused(`a view reads tables and marts alone, and not ${functionName(called)}()`);
  }
  await assertFiles(connection, sql);
  return withoutEnd(connection, sql);
}

/**
 * Checks that a query of the user names the files that it reads by plain texts, and that none is a pipe, socket or device: the
 * system waits for such a one, and no interrupt ends that. Throws QUERY_FAILED.
 */
export async function assertFiles(connection: DuckDBConnection, sql: string): Promise<void> {
  for (const { type, table_name, function: called } of nodesOf(await treeOf(connection, sql))) {
    const isReading = type === 'TABLE_FUNCTION' && FILE_FUNCTION.test(functionName(called));
    if (type !== 'BASE_TABLE' && !isReading) continue;
    const paths = isReading ? pathsOf(called) : [String(table_name)];
    for (const path of paths)
      if (isEndless(path.replace(/^file:(\/\/)?/, '')))
        throw refused(`it reads ${path}, which is no regular file, so that it might never end`);
  }
}

const FILE_FUNCTION = /^(read_|parquet_|sniff_csv$|glob$)/;

/** The paths that a call names, one text or a list of them. Throws QUERY_FAILED if something computes them. */
function pathsOf(called: unknown): string[] {
  const [given]: readonly unknown[] = Reflect.get(Object(called), 'children') ?? [];
  return [...nodesOf(given)].flatMap((node) => {
    const isList = node.class === 'FUNCTION' && node.function_name === 'list_value';
    if (node.class === 'CONSTANT') return [String(Reflect.get(Object(node.value), 'value'))];
    if (node.class === undefined || isList) return [];
    throw refused(`${functionName(called)}() needs the names of its files as they are, and computes them`);
  });
}

/** Whether a path is a pipe, socket or device. DuckDB finds none by a pattern. */
function isEndless(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

/** Table functions that read something else than their arguments. */
const BEYOND_TABLES = /^(duckdb_|pragma_|query_table$|histogram|read_|parquet_|glob$|sniff_csv$|summary$)/;

/** Replaces the semicolon that ends a query by a space. A semicolon in a text or a name is part of what DuckDB parses. */
async function withoutEnd(connection: DuckDBConnection, sql: string): Promise<string> {
  const parsed = async (text: string) => JSON.stringify(await treeOf(connection, text));
  const canStand = async (text: string) => !(await treeOf(connection, `select * from (\n${text}\n)`)).error;
  const meant = await parsed(sql);
  let text = sql;
  for (let at = text.length - 1; at >= 0 && !(await canStand(text)); at--) {
    at = text.lastIndexOf(';', at);
    if (at < 0) break;
    const without = `${text.slice(0, at)} ${text.slice(at + 1)}`;
    if ((await parsed(without)) === meant) text = without;
  }
  return text;
}
