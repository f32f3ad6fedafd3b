import type { DuckDBConnection } from '@duckdb/node-api';
import { packageFile } from '../../base/config/package-root.js';

const statements = {
  values: packageFile('sql/functions/values.sql'),
  enough: packageFile('sql/functions/enough.sql'),
} as const;

/**
 * Creates functions that the SQL of models calls, in the connection's current database: `values`, which read no table, or
 * `enough`, which reads dim_settings. All connections to the database have them.
 */
export async function createFunctions(connection: DuckDBConnection, which: keyof typeof statements) {
  await connection.run(`begin;\n${statements[which]}\ncommit`);
}
