import type { DuckDBConnection } from '@duckdb/node-api';
import { identifier, rows } from '../../src/base/duck/session.js';
import type { Model } from '../../src/core/model/model-files.js';

/** Differences between the columns of a model and its .yml; both lists are empty if there are none. */
export interface ColumnDifference {
  /** Columns of the model that the .yml does not describe. */
  readonly undescribed: readonly string[];
  /** Columns of the .yml that the model does not have. */
  readonly missing: readonly string[];
}

/** Compares the columns of a computed model with the columns of its .yml. */
export async function compareColumns(connection: DuckDBConnection, model: Model): Promise<ColumnDifference> {
  const described = await rows(connection, `describe ${identifier(model.name)}`);
  const actual = described.map((column) => String(column.column_name));
  const written = Object.keys(model.columns);
  return {
    undescribed: actual.filter((name) => !written.includes(name)),
    missing: written.filter((name) => !actual.includes(name)),
  };
}
