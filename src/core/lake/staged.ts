import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { literal } from '../../base/duck/session.js';
import type { Column } from './schema.js';
import { systemTables } from './tables.js';

/** Whether a stage has files of a table. */
export function isStaged(stage: string, table: string): boolean {
  const folder = join(stage, table);
  return existsSync(folder) && readdirSync(folder).length > 0;
}

/** Relation of the staged rows of a table, as received. Rows of a wide table also have `_domain` and `_month`. */
export function stagedFiles(stage: string, table: string): string {
  const folder = join(stage, table);
  // A small batch of a wide table is one file, a large one is staged by partition.
  const entries = readdirSync(folder, { withFileTypes: true });
  const whole = `read_parquet(${literal(join(folder, '*.parquet'))}, hive_partitioning = false)`;
  if (!entries.some((entry) => entry.isDirectory())) return whole;
  // DuckDB would read every `key=value` of the whole path, also above the stage.
  const parts = `(
    select * exclude (filename), regexp_extract(filename, '/_domain=([^/]*)/[^/]*/[^/]*$', 1) as _domain,
      regexp_extract(filename, '/_month=([^/]*)/[^/]*$', 1) as _month
    from read_parquet(${literal(join(folder, '*', '*', '*.parquet'))}, hive_partitioning = false, filename = true))`;
  return entries.some((entry) => entry.isFile())
    ? `(select * from ${parts} union all by name select * from ${whole})`
    : parts;
}

/** Columns of a staged reject: the columns of `rejects`, with `seq`, the receipt of its page, in place of `run_id`. */
export const REJECT_COLUMNS: readonly Column[] = [
  ...systemTables.flatMap(({ name, columns }) => (name === 'rejects' ? columns : [])),
  { name: 'seq', type: 'BIGINT' },
].filter(({ name }) => name !== 'run_id');

/** The file of a stage that gathers the rejects of a pass, newline-delimited. */
export const rejectsFile = (stage: string, passId: string): string =>
  join(stage, 'rejects', `${passId}-rejects.ndjson`);

/**
 * Relation of the rejects of a stage. The stage must have a file of them.
 * @param mostRecordBytes bytes of the largest record; a reject holds one at most, which may be three times as long as a JSON
 * text
 */
export function rejectsRelation(stage: string, mostRecordBytes: number): string {
  const folder = join(stage, 'rejects');
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  const columns = REJECT_COLUMNS.map(({ name, type }) => `${name}: '${type}'`);
  // DuckDB holds buffers of this size for each thread.
  const longest = Math.max(1 << 20, Math.min(Math.max(...sizes), 4 * mostRecordBytes));
  return `read_json(${literal(join(folder, '*.ndjson'))}, format = 'newline_delimited', hive_partitioning = false, maximum_object_size = ${longest}, columns = {${columns.join(', ')}})`;
}

/**
 * A receipt, `_seq`, numbers the records in the order in which they came: the receipt of the page, then, in the lower bits, the
 * place of the record among those of its batch.
 */
export const RECEIPT_BITS = 32;
