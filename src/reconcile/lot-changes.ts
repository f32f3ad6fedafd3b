import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { literal, scalar } from '../duck/session.js';
import { linkFile } from '../lake/files.js';
import { monthOf } from '../lake/partition.js';
import type { MergeContext } from './context.js';
import { ownTable } from './relations.js';
import { applyRules } from './rules.js';
import { parquetOf, writeEmpty } from './write.js';

/**
 * Adds the changes of this run to `lot_changes`; what earlier runs recorded is linked. Needs `next.lots`, and what merging
 * left in `run.actions_lots`.
 * @param updated lots that this run updated
 * @returns number of changes
 */
export async function writeLotChanges(context: MergeContext, updated: number): Promise<number> {
  const { connection, base, target, runId } = context;
  const earlier = base?.manifest.tables.lot_changes?.files.filter((file) => file.rows > 0) ?? [];
  for (const file of earlier) linkFile(join(base?.folder ?? '', file.path), join(target, file.path));
  const folder = join(target, 'lot_changes');
  mkdirSync(folder, { recursive: true });
  let count = 0;
  if (updated > 0) {
    await applyRules(connection, 'lot_changes');
    count = await scalar(connection, 'select count(*) from run.lot_changes');
  }
  if (count > 0)
    await connection.run(`
      copy (select *, ${monthOf('seen_at')} as month from run.lot_changes order by domain_id, month, lot_id, field)
      to ${literal(folder)} (${parquetOf('lot_changes', context)}, partition_by (domain_id, month), overwrite_or_ignore true,
        filename_pattern ${literal(`${runId}-{i}`)})`);
  else if (earlier.length === 0) await writeEmpty(context, ownTable('lot_changes'));
  return count;
}
