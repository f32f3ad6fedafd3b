import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../config/lotlake-error.js';
import { literal, row } from '../duck/session.js';

/** A node of DuckDB's parse tree. */
type SqlNode = Readonly<Record<string, unknown>>;

/** DuckDB's parse tree of a text. Only a text of SELECT statements has one. */
export interface SqlTree {
  readonly error: boolean;
  readonly error_type?: string;
  readonly error_message?: string;
  readonly statements?: readonly { readonly node: SqlNode }[];
}

/** The parse tree of a text, by DuckDB's own parser, which does not look names up. */
export async function treeOf(connection: DuckDBConnection, sql: string): Promise<SqlTree> {
  const { tree } = await row(connection, `select json_serialize_sql(${literal(sql)}) as tree`);
  return JSON.parse(String(tree));
}

/** The model from which lotlake fits what SELECTs read in the database `fit`. */
export const FITTED = 'price_inputs';

/**
 * Names of the tables and views that a SELECT reads, lower case, sorted, without its CTEs. They need not exist.
 * Throws MODEL_FAILED, naming the model, where the SQL is not one SELECT.
 */
export async function referencesOf(
  connection: DuckDBConnection,
  model: { readonly name: string; readonly sql: string },
): Promise<readonly string[]> {
  const { error, error_message, statements = [] } = await treeOf(connection, model.sql);
  if (error || statements.length !== 1) {
    const reason = error_message ?? `it holds ${statements.length} statements`;
    throw new LotlakeError('MODEL_FAILED', `model ${model.name} is not one SELECT: ${reason}`);
  }
  const names = namesIn(statements).map((name) => (name.startsWith('fit.') ? FITTED : name));
  return [...new Set(names)].sort();
}

/** The tables and views that a parsed text reads, without its CTEs; those of the database `fit` as `fit.<name>`. */
export function namesIn(tree: unknown): readonly string[] {
  const found = new Set<string>();
  visit(tree, new Set(), found);
  return [...found];
}

/** Walks a parsed statement; `ctes` are the names that hide tables at this place. */
function visit(tree: unknown, ctes: ReadonlySet<string>, found: Set<string>): void {
  if (typeof tree !== 'object' || tree === null) return;
  const { cte_map, ...node }: SqlNode = { ...tree };
  if (node.type === 'BASE_TABLE') {
    const name = String(node.table_name).toLowerCase();
    if (node.schema_name !== '' || !ctes.has(name))
      found.add(node.schema_name === 'fit' ? `fit.${name}` : name);
  }
  const inner = cte_map === undefined ? ctes : visitCtes(cte_map as CteMap, ctes, found);
  for (const value of Object.values(node)) visit(value, inner, found);
}

/** The CTEs of a SELECT. */
interface CteMap {
  readonly map: readonly { readonly key: string; readonly value: { readonly query: { node: SqlNode } } }[];
}

/** Walks the CTEs of a SELECT in order: each sees those before it, a recursive one also itself. */
function visitCtes({ map }: CteMap, outer: ReadonlySet<string>, found: Set<string>): ReadonlySet<string> {
  const scope = new Set(outer);
  for (const { key, value } of map) {
    const name = key.toLowerCase();
    const { node } = value.query;
    visit(node, node.type === 'RECURSIVE_CTE_NODE' ? new Set([...scope, name]) : scope, found);
    scope.add(name);
  }
  return scope;
}

/** SELECTs with the names that each reads, see {@link referencesOf}. */
export async function withReferences<T extends { readonly name: string; readonly sql: string }>(
  connection: DuckDBConnection,
  selects: readonly T[],
) {
  const found: (T & { readonly references: readonly string[] })[] = [];
  for (const select of selects) found.push({ ...select, references: await referencesOf(connection, select) });
  return found;
}
