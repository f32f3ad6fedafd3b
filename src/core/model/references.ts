import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../../base/config/lotlake-error.js';

import { namesIn, OUTSIDE, type SqlTree, treesOf } from './sql-tree.js';

/** A SELECT with the name of what it computes. */
interface NamedSelect {
  readonly name: string;
  readonly sql: string;
}

/**
 * Adds to each SELECT the names of the tables and views that it reads, lower case, sorted, without its CTEs. They need not
 * exist. Throws MODEL_FAILED, naming the model, for SQL that is not one SELECT.
 */
export async function withReferences<T extends NamedSelect>(
  connection: DuckDBConnection,
  selects: readonly T[],
): Promise<(T & { readonly references: readonly string[] })[]> {
  const trees = await treesOf(
    connection,
    selects.map(({ sql }) => sql),
  );
  return selects.map((select, i) => ({ ...select, references: referencesIn(trees[i], select.name) }));
}

function referencesIn(tree: SqlTree | undefined, name: string): readonly string[] {
  const { error = true, error_message, statements = [] } = tree ?? {};
  if (error || statements.length !== 1) {
    const reason = error_message ?? `it holds ${statements.length} statements`;
    throw new LotlakeError('MODEL_FAILED', `model ${name} is not one SELECT: ${reason}`);
  }
  const names = namesIn(statements).map(
    (each) => OUTSIDE.find((step) => each.startsWith(`${step}.`)) ?? each,
  );
  return [...new Set(names)].sort();
}
