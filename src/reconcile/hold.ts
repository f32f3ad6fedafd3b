import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { MergeContext } from './context.js';
import { baseRelation, heldName } from './staged.js';

/** Tables that merging reads several times, all columns of many files. */
const READ_OFTEN = ['lots', 'vehicles'];

/** Bytes of Parquet up to which a last state is held in memory; some ten times as much there. */
const MOST_STORED = 512 << 10;

/** The same for staged rows, which are compressed less. */
const MOST_STAGED = 1 << 20;

/**
 * Reads small last states into memory once: opening the many small files of a small lake costs more than their rows.
 * @returns the tables that are held
 */
export async function holdSmallStates(context: MergeContext): Promise<ReadonlySet<string>> {
  const held = new Set<string>();
  for (const name of READ_OFTEN) {
    const schema = context.schemas.get(name);
    if (schema === undefined || context.base === undefined || !isSmall(context, name)) continue;
    await context.connection.run(
      `create or replace table ${heldName(name)} as from ${baseRelation(context, schema)}`,
    );
    held.add(name);
  }
  return held;
}

/** Whether the last state and the staged rows of a table are so few that they may be in memory together. */
export function isSmall(context: MergeContext, table: string): boolean {
  const stored = context.base?.manifest.tables[table]?.bytes ?? 0;
  return stored <= MOST_STORED && stagedBytes(context, table) <= MOST_STAGED;
}

function stagedBytes(context: MergeContext, table: string): number {
  const folder = join(context.stage, table);
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
