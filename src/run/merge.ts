import { mkdirSync } from 'node:fs';
import { killPoint } from '../config/kill-point.js';
import { isHeldSinceCurrent, settleFailedRuns } from '../lake/failed-runs.js';
import { landedPassIds } from '../land/pass.js';
import type { LoadedPass } from '../load/loader.js';
import type { MergeContext } from '../reconcile/context.js';
import { type ClosingRow, writeOwn, writePasses, writeRejects } from '../reconcile/own-rows.js';
import { type ReconcileResult, reconcile } from '../reconcile/reconcile.js';
import { sumOf } from './balance.js';
import type { Job } from './job.js';

/** What reconcile gave to the steps after it. */
export type Merged = ReconcileResult & { readonly context: MergeContext };

/** Merges staged rows into a new state folder and writes lotlake's own tables beside them. */
export async function reconcileInto(
  job: Job,
  given: Pick<MergeContext, 'target' | 'stage' | 'base' | 'passes' | 'runId' | 'startedAt' | 'allowShrink'>,
  closings: readonly ClosingRow[] = [],
): Promise<Merged> {
  mkdirSync(given.target, { recursive: true });
  const { connection, connect, alone } = job.session;
  const cars = given.passes.find(({ manifest }) => manifest.stream === 'cars');
  const context: MergeContext = {
    ...given,
    ...{ connection, connect, alone },
    schemas: job.schemas,
    snapshot: job.runId,
    seenAt: cars?.manifest.started_at ?? given.startedAt,
    shrinkGuard: job.config.shrinkGuard,
  };
  const result = await job.session.whileWriting(() => reconcile(context));
  for (const warning of result.warnings) job.reporter.warn(warning);
  await writePasses(context);
  await writeRejects(context, landedPassIds(job.layout.landing));
  await writeOwn(context, 'closings', closings);
  killPoint('reconcile.own-tables-written');
  return { ...result, context };
}

/** Writes the row of this run. */
export function recordRun(job: Job, passes: readonly LoadedPass[], merged: Merged): Promise<void> {
  const failed = settleFailedRuns(job.layout);
  const row = {
    run_id: job.runId,
    pipeline: job.pipeline,
    snapshot_id: job.runId,
    started_at: job.startedAt.toISOString(),
    ended_at: job.now().toISOString(),
    records: sumOf(passes, 'records'),
    loaded: sumOf(passes, 'loaded'),
    rejected: sumOf(passes, 'rejected'),
    rejected_values: sumOf(passes, 'rejectedValues'),
    drifted: job.drift.length,
    counts: JSON.stringify(merged.counts),
    warnings: job.warnings,
    held: failed.filter((run) => isHeldSinceCurrent(run, job.layout)).map(({ reason }) => reason),
    failing: failed
      .filter(({ pipeline }) => pipeline !== job.pipeline)
      .map(({ pipeline, started_at, reason }) => `${pipeline} of ${started_at}: ${reason}`),
    minimum_group: job.config.minimumGroup,
    relisting_days: job.config.relistingDays,
    reject_alarm: job.config.rejectAlarm,
  };
  return writeOwn(merged.context, 'runs', [row]);
}
