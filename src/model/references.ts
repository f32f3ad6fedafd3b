import type { DuckDBConnection } from '@duckdb/node-api';
import { z } from 'zod';
import { literal, row } from '../duck/session.js';
import { ModelError } from './model-error.js';

const serialized = z.object({
  error: z.boolean(),
  error_message: z.string().optional(),
  statements: z.array(z.unknown()).default([]),
});

const tableNode = z.object({
  type: z.literal('BASE_TABLE'),
  schema_name: z.string(),
  table_name: z.string(),
});

const withCtes = z.object({
  cte_map: z.object({
    map: z.array(
      z.object({
        key: z.string(),
        value: z.object({ query: z.object({ node: z.object({ type: z.string() }).loose() }) }),
      }),
    ),
  }),
});

/**
 * Names of the tables and views that a SELECT reads, lower case, sorted, without its CTEs. DuckDB parses the SQL
 * without looking the names up, so they need not exist.
 * Throws ModelError (MODEL_FAILED), naming the model, where the SQL is not one SELECT.
 */
export async function referencesOf(
  connection: DuckDBConnection,
  model: { readonly name: string; readonly sql: string },
): Promise<readonly string[]> {
  const { tree } = await row(connection, `select json_serialize_sql(${literal(model.sql)}) as tree`);
  const parsed = serialized.parse(JSON.parse(String(tree)));
  if (parsed.error || parsed.statements.length !== 1) {
    const reason = parsed.error_message ?? `it holds ${parsed.statements.length} statements`;
    throw new ModelError('MODEL_FAILED', `model ${model.name} is not one SELECT: ${reason}`);
  }
  const found = new Set<string>();
  visit(parsed.statements[0], new Set(), found);
  return [...found].sort();
}

/** The model from which lotlake fits what SELECTs read in the database `fit`. */
export const FITTED = 'price_inputs';

/** Walks a parsed statement; `ctes` are the names that hide tables at this place. */
function visit(node: unknown, ctes: ReadonlySet<string>, found: Set<string>): void {
  if (typeof node !== 'object' || node === null) return;
  const table = 'table_name' in node ? tableNode.safeParse(node).data : undefined;
  const name = table?.table_name.toLowerCase();
  if (name !== undefined && (table?.schema_name !== '' || !ctes.has(name)))
    found.add(table?.schema_name === 'fit' ? FITTED : name);
  const map = 'cte_map' in node ? withCtes.safeParse(node).data?.cte_map.map : undefined;
  const inner = map === undefined ? ctes : visitCtes(map, ctes, found);
  for (const [member, value] of Object.entries(node))
    if (member !== 'cte_map' || map === undefined) visit(value, inner, found);
}

/** Walks the CTEs of a SELECT in order: each sees those before it, a recursive one also itself. */
function visitCtes(
  map: z.output<typeof withCtes>['cte_map']['map'],
  outer: ReadonlySet<string>,
  found: Set<string>,
): ReadonlySet<string> {
  const scope = new Set(outer);
  for (const { key, value } of map) {
    const name = key.toLowerCase();
    const isRecursive = value.query.node.type === 'RECURSIVE_CTE_NODE';
    visit(value.query.node, isRecursive ? new Set([...scope, name]) : scope, found);
    scope.add(name);
  }
  return scope;
}
