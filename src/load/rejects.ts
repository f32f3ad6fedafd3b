import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { literal } from '../duck/session.js';
import type { Column } from '../lake/schema.js';
import { ownTables } from '../lake/tables.js';
import { MOST_RECORD_BYTES } from '../land/scan-page.js';
import type { Reject } from './check-page.js';

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
