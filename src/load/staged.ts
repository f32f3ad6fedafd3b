import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { literal } from '../duck/session.js';
import type { Column } from '../lake/schema.js';
import { ownTables } from '../lake/tables.js';
import { MOST_RECORD_BYTES } from '../land/scan-page.js';
import type { Reject } from './check-page.js';

/** Whether a run staged rows of a table. */
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

/** The file of a stage that gathers the rejects of a run, newline-delimited. */
export const rejectsFile = (stage: string): string => join(stage, 'rejects.ndjson');

export function addRejects(stage: string, rejects: readonly Reject[]): void {
  appendFileSync(rejectsFile(stage), rejects.map((reject) => `${JSON.stringify(reject)}\n`).join(''));
}

export function dropRejects(stage: string, passId: string): void {
  const file = rejectsFile(stage);
  if (!existsSync(file)) return;
  const lines = readFileSync(file, 'utf8').split('\n');
  const others = lines.filter((line) => line !== '' && JSON.parse(line).pass_id !== passId);
  writeFileSync(file, others.map((line) => `${line}\n`).join(''));
}

/** A reject holds at most one record, whose bytes grow up to three times as a JSON text. */
const MOST_REJECT_BYTES = 4 * MOST_RECORD_BYTES;

/** A relation with the rejects of a stage; empty if there are none. */
export function rejectsRelation(stage: string): string {
  const file = rejectsFile(stage);
  if (!existsSync(file)) writeFileSync(file, '');
  const columns = REJECT_COLUMNS.map(({ name, type }) => `${name}: '${type}'`);
  // DuckDB holds buffers of this size for each thread.
  const longest = Math.max(1 << 20, Math.min(statSync(file).size, MOST_REJECT_BYTES));
  return `read_json(${literal(file)}, format = 'newline_delimited', maximum_object_size = ${longest}, columns = {${columns.join(', ')}})`;
}
