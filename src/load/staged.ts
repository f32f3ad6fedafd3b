import { appendFileSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { literal } from '../duck/session.js';
import type { Column } from '../lake/schema.js';
import { ownTables } from '../lake/tables.js';
import { MOST_RECORD_BYTES } from '../land/scan-page.js';
import type { Reject } from './check-page.js';

/** Whether a stage has files of a table. */
export function isStaged(stage: string, table: string): boolean {
  const folder = join(stage, table);
  return existsSync(folder) && readdirSync(folder).length > 0;
}

/** The staged rows of a table as they were received; a wide table has `_domain` and `_month` beside them. */
export function stagedFiles(stage: string, table: string): string {
  const folder = join(stage, table);
  // A small batch of a wide table is one file, a large one is staged by partition.
  const entries = readdirSync(folder, { withFileTypes: true });
  const whole = `read_parquet(${literal(join(folder, '*.parquet'))}, hive_partitioning = false)`;
  if (!entries.some((entry) => entry.isDirectory())) return whole;
  const parts = `read_parquet(${literal(join(folder, '*', '*', '*.parquet'))}, hive_partitioning = true, hive_types_autocast = false)`;
  return entries.some((entry) => entry.isFile())
    ? `(select * from ${parts} union all by name select * from ${whole})`
    : parts;
}

/** Columns of a reject: those of the table, and the receipt of its page in place of the run. */
export const REJECT_COLUMNS: readonly Column[] = [
  ...ownTables.flatMap(({ name, columns }) => (name === 'rejects' ? columns : [])),
  { name: 'seq', type: 'BIGINT' },
].filter(({ name }) => name !== 'run_id');

/** The file of a stage that gathers the rejects of a pass, newline-delimited. */
export const rejectsFile = (stage: string, passId: string): string =>
  join(stage, 'rejects', `${passId}-rejects.ndjson`);

export function addRejects(stage: string, passId: string, rejects: readonly Reject[]): void {
  const file = rejectsFile(stage, passId);
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, rejects.map((reject) => `${JSON.stringify(reject)}\n`).join(''));
}

/** A reject holds at most one record, whose bytes grow up to three times as a JSON text. */
const MOST_REJECT_BYTES = 4 * MOST_RECORD_BYTES;

/** A relation with the rejects of a stage, which must have files of rejects. */
export function rejectsRelation(stage: string): string {
  const folder = join(stage, 'rejects');
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  const columns = REJECT_COLUMNS.map(({ name, type }) => `${name}: '${type}'`);
  // DuckDB holds buffers of this size for each thread.
  const longest = Math.max(1 << 20, Math.min(Math.max(...sizes), MOST_REJECT_BYTES));
  return `read_json(${literal(join(folder, '*.ndjson'))}, format = 'newline_delimited', maximum_object_size = ${longest}, columns = {${columns.join(', ')}})`;
}
