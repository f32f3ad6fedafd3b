import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { literal } from '../duck/session.js';

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
