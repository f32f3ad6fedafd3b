import { version } from '../../base/config/package-root.js';
import { literal } from '../../base/duck/session.js';
import { type Field, fieldIdsOption } from './field-ids.js';

/**
 * Parquet settings of every published file: what Spark, pandas, polars and older readers open. Level 1 takes a quarter
 * less time to write than the default, and makes the files of images smaller and the others 1 to 4 % larger.
 */
export const PARQUET = 'format parquet, compression zstd, compression_level 1, parquet_version v1';

/** Option of COPY that writes the table, the snapshot and the version of lotlake into the metadata of a file. */
export function metadataOf(table: string, snapshot: string): string {
  const pairs = Object.entries({ table, snapshot, version });
  return `kv_metadata {${pairs.map(([key, value]) => `${literal(key)}: ${literal(value)}`).join(', ')}}`;
}

/**
 * Options of COPY for a file of the snapshot that is being written. If later snapshots link the file, its metadata still
 * names this one.
 * @param fields all columns of the file
 */
export const copyOptions = (table: string, snapshot: string, fields: readonly Field[]): string =>
  `${PARQUET}, ${fieldIdsOption(fields)}, ${metadataOf(table, snapshot)}`;
