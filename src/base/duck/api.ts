import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/**
 * DuckDB's module; its types are imported as usual. It is CommonJS, and if it were imported, Node would first scan all of its
 * files for the names that they export, which takes as long as loading them.
 */
export const duckdb: typeof import('@duckdb/node-api') = load('@duckdb/node-api');

/** What DuckDB's module decodes texts with. Its own one takes U+FEFF at the beginning of a value for a mark, and drops it. */
const accessors: { textDecoder: InstanceType<typeof TextDecoder> } = load(
  '@duckdb/node-api/lib/vectors/dataAccessors.js',
);
accessors.textDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
