import type { DuckDBConnection } from '@duckdb/node-api';
import { identifier } from '../duck/session.js';
import { checkFunctions, treeOf } from '../query/read-only.js';
import { ShareError } from '../query/share-error.js';

/** The parse tree of a query that has nothing but a list, a table and a condition has these members and no others set. */
const BARE: Readonly<Record<string, unknown>> = {
  type: 'SELECT_NODE',
  modifiers: [],
  cte_map: { map: [] },
  group_expressions: [],
  group_sets: [],
  aggregate_handling: 'STANDARD_HANDLING',
  having: null,
  sample: null,
  qualify: null,
};

/** A condition in brackets on lines of its own, so that a comment in it ends with it. */
const bracketed = (condition: string): string => `(\n${condition}\n)`;

/** The clause of a condition that passed {@link checkCondition}; empty if there is none. */
export function whereClause(condition: string | undefined): string {
  return condition === undefined ? '' : ` where ${bracketed(condition)}`;
}

/**
 * Checks that a text is one SQL expression, and nothing that ends the expression and goes on with more of a query or
 * with another statement. Subqueries over tables of the lake are expressions. Throws ShareError SHARE_QUERY.
 */
export async function checkCondition(
  connection: DuckDBConnection,
  table: string,
  condition: string,
): Promise<void> {
  const sql = `select 1 from ${identifier(table)}${whereClause(condition)}`;
  const tree = await treeOf(connection, sql);
  if (tree.error) throw notOneExpression(tree.error_message ?? 'it cannot be parsed');
  const [first, ...others] = tree.statements ?? [];
  if (first === undefined || others.length > 0) throw notOneExpression('it holds another statement');
  for (const [member, value] of Object.entries(BARE)) {
    if (JSON.stringify(first.node[member]) !== JSON.stringify(value))
      throw notOneExpression('it ends the condition and goes on with more of a query');
  }
  checkFunctions(tree);
}

function notOneExpression(reason: string): ShareError {
  return new ShareError('SHARE_QUERY', `--where is not one SQL expression: ${reason}`, {
    outcome: 'usage',
    hint: "write a condition over the columns of the table, such as domain_id = 3 and sale_date >= '2026-11-01'",
  });
}
