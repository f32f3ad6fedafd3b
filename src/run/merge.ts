import { mkdirSync } from 'node:fs';
import { killPoint } from '../config/kill-point.js';
import type { BaseState } from '../lake/base.js';
import { isHeldSinceCurrent, settleFailedRuns } from '../lake/failed-runs.js';
import { landedPassIds } from '../land/pass.js';
import type { LoadedPass } from '../load/loader.js';
import type { Evidence, MergeContext, TableCounts } from '../reconcile/context.js';
import {
  type ClosingRow,
  type RunRow,
  writeClosings,
  writePasses,
  writeRejects,
  writeRun,
} from '../reconcile/own-rows.js';
import { reconcile } from '../reconcile/reconcile.js';
import type { Job } from './job.js';

/** What the passes of a run prove. A pass without records proves nothing: no feed is empty. */
export function evidenceOf(runId: string, startedAt: string, passes: readonly LoadedPass[]): Evidence {
  const cars = passes.find((pass) => pass.manifest.stream === 'cars')?.manifest;
  const complete = passes.filter(
    ({ manifest }) => manifest.kind === 'full' && manifest.complete && manifest.records > 0,
  );
  const sources = cars?.sources ?? undefined;
  const isWhole = sources === undefined ? cars?.complete === true : sources.length > 0;
  return {
    seenAt: cars?.started_at ?? startedAt,
    runId,
    isResumed: cars !== undefined && cars.started_at < startedAt,
    carsComplete: cars !== undefined && cars.kind === 'full' && isWhole && cars.records > 0,
    kind: cars?.kind ?? 'full',
    fromFeed: cars === undefined || cars.kind !== 'lookup',
    sources,
    hidden: cars?.hidden ?? [],
    unproven: cars?.unproven ?? [],
    completeStreams: new Set(complete.map((pass) => pass.manifest.stream)),
  };
}

/** Merges staged rows into a new state folder and writes lotlake's own tables beside them. */
export async function reconcileInto(
  job: Job,
  options: {
    readonly target: string;
    readonly stage: string;
    readonly base: BaseState | undefined;
    readonly passes: readonly LoadedPass[];
    readonly evidence: Evidence;
    readonly closings?: readonly ClosingRow[];
  },
): Promise<{
  context: MergeContext;
  counts: Record<string, TableCounts>;
  lotChanges: number;
}> {
  mkdirSync(options.target, { recursive: true });
  const context: MergeContext = {
    connection: job.session.connection,
    connect: job.session.connect,
    alone: job.session.alone,
    schemas: job.schemas,
    stage: options.stage,
    target: options.target,
    snapshot: job.runId,
    base: options.base,
    evidence: options.evidence,
    shrinkGuard: job.config.shrinkGuard,
    allowShrink: job.config.allowShrink,
    unchanged: options.passes.flatMap(({ changes }) => [...(changes?.unchanged ?? [])]),
    lists: new Map(options.passes.filter(isOfLists).flatMap(({ lists }) => [...lists])),
  };
  const result = await job.session.whileWriting(() => reconcile(context));
  for (const warning of result.warnings) job.reporter.warn(warning);
  await writePasses(
    context,
    options.passes.map((pass) => pass.manifest),
  );
  await writeRejects(context, landedPassIds(job.layout.landing));
  await writeClosings(context, options.closings ?? []);
  killPoint('reconcile.own-tables-written');
  return { context, counts: { ...result.counts }, lotChanges: result.lotChanges };
}

/** Whether a pass walked lists. Lookups ask for single vehicles, and their last answer counts. */
const isOfLists = ({ manifest: { stream, kind } }: LoadedPass): boolean =>
  stream === 'cars' && kind !== 'lookup';

/** What reconcile gave to the steps after it. */
export type Merged = Awaited<ReturnType<typeof reconcileInto>>;

/** Writes the row of this run. */
export function recordRun(job: Job, passes: readonly LoadedPass[], merged: Merged): Promise<void> {
  const failed = settleFailedRuns(job.layout);
  return writeRun(merged.context, {
    run_id: job.runId,
    pipeline: job.pipeline,
    snapshot_id: job.runId,
    started_at: job.startedAt.toISOString(),
    ended_at: job.now().toISOString(),
    ...sumOf(passes),
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
  });
}

function sumOf(
  passes: readonly LoadedPass[],
): Pick<RunRow, 'records' | 'loaded' | 'rejected' | 'rejected_values'> {
  const sum = (member: 'records' | 'loaded' | 'rejected' | 'rejectedValues'): number =>
    passes.reduce((total, pass) => total + pass[member], 0);
  return {
    records: sum('records'),
    loaded: sum('loaded'),
    rejected: sum('rejected'),
    rejected_values: sum('rejectedValues'),
  };
}
