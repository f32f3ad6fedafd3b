import { appendFileSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonIn, replaceFile } from '../land/files.js';
import { currentId, currentSnapshot, type Layout } from './layout.js';
import { type Holder, standingOf } from './lock.js';
import { manifestIn } from './manifest.js';

const failedRun = z.object({
  pipeline: z.string(),
  started_at: z.string(),
  /** `held` by a guard or a data test, or what else ended the run; see Outcome. */
  outcome: z.string(),
  /** Code and message of the error that ended the run. */
  reason: z.string(),
  /** Snapshot that stayed current; null where there was none. */
  snapshot_id: z.string().nullable(),
});

/** A run that was held or failed: it published nothing, so that no table has a row of it. */
export type FailedRun = Readonly<z.output<typeof failedRun>>;

const ledgerOf = (layout: Layout): string => join(layout.lake, 'failed-runs.ndjson');

/** Notes a run that was held or failed beside the snapshots, for `status` and the next run that publishes. */
export function noteFailedRun(layout: Layout, run: Omit<FailedRun, 'snapshot_id'>): void {
  mkdirSync(layout.lake, { recursive: true });
  // A torn line must not swallow the next one.
  appendFileSync(ledgerOf(layout), `\n${JSON.stringify({ ...run, snapshot_id: currentId(layout) })}\n`);
}

/**
 * The runs that were held or failed, oldest first, and a run that was killed, unless a later run of the same pipeline
 * published. The snapshot that stayed current tells runs apart, not a clock. A torn line is left out.
 */
export function unresolvedRuns(layout: Layout): FailedRun[] {
  // A process that is gone left its lock, because it was killed or the machine went down.
  const standing = standingOf(layout.lock);
  const killed = standing?.runs === false ? unpublishedRun(layout, standing.holder) : undefined;
  return killed === undefined ? notedRuns(layout) : [...notedRuns(layout), killed];
}

/**
 * Forgets the noted runs that the current snapshot has resolved, and returns the others. Every run does so before it
 * publishes, so no publish is missed.
 */
export function settleFailedRuns(layout: Layout): FailedRun[] {
  const unresolved = notedRuns(layout);
  const ledger = ledgerOf(layout);
  if (unresolved.length === 0) rmSync(ledger, { force: true });
  else replaceFile(ledger, unresolved.map((run) => `${JSON.stringify(run)}\n`).join(''));
  return unresolved;
}

/** Commands that hold the lock and are no run. */
const CARE: ReadonlySet<string> = new Set(['vacuum', 'backup', 'pull']);

/** The run of a holder that is gone; undefined where it had published, and where it was none. */
export function unpublishedRun(layout: Layout, { pipeline, started_at, pid }: Holder): FailedRun | undefined {
  if (CARE.has(pipeline)) return undefined;
  // The link is made anew by every publication, and nobody but the holder of the lock publishes.
  const published = lstatSync(layout.current, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (published >= Date.parse(started_at)) return undefined;
  const reason = `process ${pid} ended before the run did: it was killed, or the machine went down`;
  return { pipeline, started_at, outcome: 'failed', reason, snapshot_id: currentId(layout) };
}

/** Whether a run of {@link unresolvedRuns} was held since the current snapshot was published. */
export function isHeldSinceCurrent(run: FailedRun, layout: Layout): boolean {
  return run.outcome === 'held' && run.snapshot_id === currentId(layout);
}

/** Noted runs, without those whose pipeline has published the current snapshot since. */
function notedRuns(layout: Layout): FailedRun[] {
  const ledger = ledgerOf(layout);
  if (!existsSync(ledger)) return [];
  return readFileSync(ledger, 'utf8')
    .split('\n')
    .flatMap((line) => failedRun.safeParse(jsonIn(line)).data ?? [])
    .filter((run) => run.snapshot_id === currentId(layout) || run.pipeline !== currentPipeline(layout));
}

/** Pipeline that published the current snapshot; undefined where that cannot be read. */
function currentPipeline(layout: Layout): string | undefined {
  const snapshot = currentSnapshot(layout);
  return snapshot === undefined ? undefined : manifestIn(snapshot)?.pipeline;
}
