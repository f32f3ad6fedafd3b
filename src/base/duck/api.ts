import { createRequire } from 'node:module';

/**
 * DuckDB's module; its types are imported as usual. It is CommonJS, and if it were imported, Node would first scan all of its
 * files for the names that they export, which takes as long as loading them.
 */
export const duckdb: typeof import('@duckdb/node-api') = createRequire(import.meta.url)('@duckdb/node-api');
