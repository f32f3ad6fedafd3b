import type { DuckDBConnection } from '@duckdb/node-api';
import { literals, row } from '../../base/duck/session.js';

/** Name of the step that fits prices to what its SELECT reads. */
export const FIT = 'fit';

/**
 * Names of the steps that lotlake computes outside of SQL, from what their SELECT reads. What one gives are tables of a database of its
 * name. A SELECT that reads one of these depends on the step, and only DuckDB computes it.
 */
export const OUTSIDE: readonly string[] = [FIT, 'costs'];

/** A node of DuckDB's parse tree. */
type SqlNode = Readonly<Record<string, unknown>>;

/** DuckDB's parse tree of a text. Only a text of SELECT statements has one. */
export interface SqlTree {
  readonly error: boolean;
  readonly error_type?: string;
  readonly error_message?: string;
  readonly statements?: readonly { readonly node: SqlNode }[];
}

/**
 * Parses texts with DuckDB's own parser, which does not resolve names. One statement takes a third of the time of a
 * statement for each text.
 */
export async function treesOf(connection: DuckDBConnection, texts: readonly string[]): Promise<SqlTree[]> {
  const { trees } = await row(
    connection,
    `select list_transform(${literals(texts)}::varchar[], lambda sql: json_serialize_sql(sql)::varchar) as trees`,
  );
  return (trees as readonly string[]).map((tree) => JSON.parse(tree));
}

/** Parses one text as {@link treesOf} does. */
export async function treeOf(connection: DuckDBConnection, sql: string): Promise<SqlTree> {
  const [tree = { error: true }] = await treesOf(connection, [sql]);
  return tree;
}

/** The model with the settings of the run, which functions of the models read. */
export const SETTINGS = 'dim_settings';

/** The CTEs of a SELECT, in order. */
interface CteMap {
  readonly map: readonly { readonly key: string; readonly value: { readonly query: { node: SqlNode } } }[];
}

/**
 * The tables and views that a parsed text reads, some several times. A table of a step outside of SQL is `fit.<name>`.
 * @param ctes names of the CTEs that hide tables at this place
 */
export function namesIn(tree: unknown, ctes: ReadonlySet<string> = new Set()): readonly string[] {
  if (typeof tree !== 'object' || tree === null) return [];
  const { cte_map, ...node }: SqlNode = { ...tree };
  const found: string[] = [];
  if (node.type === 'BASE_TABLE') {
    const name = String(node.table_name).toLowerCase();
    const schema = String(node.schema_name);
    if (OUTSIDE.includes(schema)) found.push(`${schema}.${name}`);
    else if (node.schema_name !== '' || !ctes.has(name)) found.push(name);
  }
  // The function reads the table (sql/functions/enough.sql).
  if (node.function_name === 'enough') found.push(SETTINGS);
  let scope = ctes;
  // Each CTE sees those before it, a recursive one also itself.
  for (const { key, value } of (cte_map as CteMap | undefined)?.map ?? []) {
    const query = value.query.node;
    const next = new Set([...scope, key.toLowerCase()]);
    found.push(...namesIn(query, query.type === 'RECURSIVE_CTE_NODE' ? next : scope));
    scope = next;
  }
  for (const value of Object.values(node)) found.push(...namesIn(value, scope));
  return found;
}
