import type { DuckDBConnection } from '@duckdb/node-api';
import { rows } from '../../src/duck/session.js';
import type { Model } from '../../src/model/model-files.js';

/** Where the SELECT of a model and its .yml disagree; both lists are empty where they agree. */
export interface ColumnDifference {
  /** Columns of the SELECT that the .yml does not describe. */
  readonly undescribed: readonly string[];
  /** Columns of the .yml that the SELECT does not have. */
  readonly missing: readonly string[];
}

/** Compares the columns that DuckDB finds in a model's SELECT with those of its .yml; what it reads must exist. */
export async function compareColumns(connection: DuckDBConnection, model: Model): Promise<ColumnDifference> {
  const described = await rows(connection, `describe select * from (\n${model.sql}\n)`);
  const actual = described.map((column) => String(column.column_name));
  const written = Object.keys(model.columns);
  return {
    undescribed: actual.filter((name) => !written.includes(name)),
    missing: written.filter((name) => !actual.includes(name)),
  };
}
