import type { Config } from '../base/config/config.js';
import { messageOf } from '../base/config/lotlake-error.js';
import { count, counted, sumOf } from '../base/config/printable.js';
import { type Synced, syncDatabase } from '../beyond/sync/sync.js';
import { textOf } from './command.js';

/** A sync after a run: what it did, or why it failed. */
export type SyncOutcome = Synced | { readonly name: string; readonly error: string };

/** Syncs every database that the configuration names. One that fails is reported, and holds up nothing. */
export async function syncAll(
  config: Config,
  given: Parameters<typeof syncDatabase>[3],
  warn: (message: string) => void,
): Promise<readonly SyncOutcome[]> {
  const outcomes: SyncOutcome[] = [];
  for (const [name, settings] of Object.entries(config.sync)) {
    try {
      outcomes.push(await syncDatabase(name, settings, config, given));
    } catch (error) {
      given.signal.throwIfAborted();
      warn(
        `the snapshot is published, but the sync of ${name} failed: ${messageOf(error)}; the next run or lotlake sync ${name} catches up`,
      );
      outcomes.push({ name, error: messageOf(error) });
    }
  }
  return outcomes;
}

/** Describes a sync to a person. */
export function syncedText({ name, place, schema, snapshot, tables }: Synced): string {
  const sent = sumOf(tables, (table) => table.sent);
  return textOf([
    `${name}: ${schema} at ${place} has snapshot ${snapshot}: ${counted(tables.length, 'table')}, ${counted(sent, 'row')} sent`,
    ...tables
      .filter(({ because }) => because !== null)
      .map(
        (table) =>
          `${table.name}: ${table.how === 'new' ? 'made anew' : 'every row compared'}, since ${table.because} (${count(table.sent)} rows)`,
      ),
  ]);
}

/** The line of a summary about the syncs after a run; undefined if there were none. */
export const syncLine = (outcomes: readonly SyncOutcome[]): string | undefined =>
  outcomes.length === 0
    ? undefined
    : `sync: ${outcomes
        .map((each) =>
          'error' in each
            ? `${each.name} failed`
            : `${each.name} has it, ${counted(
                sumOf(each.tables, ({ sent }) => sent),
                'row',
              )} sent`,
        )
        .join('; ')}`;
