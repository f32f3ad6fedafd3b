import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { currentSnapshot, type Layout } from './layout.js';

const heldRun = z.object({
  run_id: z.string(),
  pipeline: z.string(),
  started_at: z.string(),
  /** Code and message of the error that held the run. */
  reason: z.string(),
  /** Snapshot that stayed current; null where there was none. */
  snapshot_id: z.string().nullable(),
});

/** A run that a guard or a data test held: it published nothing, so that no table has a row of it. */
export type HeldRun = Omit<z.output<typeof heldRun>, 'snapshot_id'>;

const ledgerOf = (layout: Layout): string => join(layout.lake, 'held-runs.ndjson');

/** Notes a held run beside the snapshots, for the next run that publishes. */
export function noteHeldRun(layout: Layout, run: HeldRun): void {
  mkdirSync(layout.lake, { recursive: true });
  // A line that a crash tore must not swallow the one after it.
  appendFileSync(ledgerOf(layout), `\n${JSON.stringify({ ...run, snapshot_id: currentId(layout) })}\n`);
}

/**
 * The runs that were held since the current snapshot was published, oldest first. They are told apart by the snapshot
 * that stayed current, not by clocks, so that each is counted by one published run; a torn line is left out.
 */
export function heldSinceCurrent(layout: Layout): HeldRun[] {
  const ledger = ledgerOf(layout);
  if (!existsSync(ledger)) return [];
  const current = currentId(layout);
  return readFileSync(ledger, 'utf8')
    .split('\n')
    .flatMap((line) => parseLine(line))
    .filter(({ snapshot_id }) => snapshot_id === current);
}

function currentId(layout: Layout): string | null {
  const snapshot = currentSnapshot(layout);
  return snapshot === undefined ? null : basename(snapshot);
}

function parseLine(line: string): z.output<typeof heldRun>[] {
  try {
    return [heldRun.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}
