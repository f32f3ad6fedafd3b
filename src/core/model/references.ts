import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { fittedModel } from './model-files.js';
import { namesIn, treeOf } from './tree.js';

/**
 * Names of the tables and views that a SELECT reads, lower case, sorted, without its CTEs. They need not exist.
 * Throws MODEL_FAILED, naming the model, if the SQL is not one SELECT.
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
  const names = namesIn(statements).map((name) => (name.startsWith('fit.') ? fittedModel() : name));
  return [...new Set(names)].sort();
}

/** Adds to each SELECT the names that it reads, see {@link referencesOf}. */
export async function withReferences<T extends { readonly name: string; readonly sql: string }>(
  connection: DuckDBConnection,
  selects: readonly T[],
) {
  const found: (T & { readonly references: readonly string[] })[] = [];
  for (const select of selects) found.push({ ...select, references: await referencesOf(connection, select) });
  return found;
}
