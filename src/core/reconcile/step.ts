import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder } from '../../base/config/owned.js';
import { count, counted } from '../../base/config/printable.js';
import { setFutureAside } from '../extract/step.js';
import type { Job } from '../job/job.js';
import type { BaseState } from '../lake/base.js';
import type { Manifest } from '../lake/manifest.js';
import type { LoadedPass } from '../lake/passes/loaded-pass.js';
import { endPass, landedPassIds, listPasses } from '../lake/passes/pass.js';
import { readIds } from '../lake/snapshots.js';
import { type Merged, mergeStaged } from './merge-staged.js';
import { type Brought, isNothingNew } from './nothing-new.js';
import { passTimes } from './pass-times.js';
import { recordFingerprints } from './record-fingerprints.js';
import type { MergeContext } from './relations.js';
import { type ClosingRow, writeRejects, writeSystemTable } from './system-rows.js';

/** A new state of the lake: the tables of the snapshot that a run writes. Its marts are not computed yet. */
export interface State extends Pick<Merged, 'counts' | 'lotChanges'> {
  /** Folder of the snapshot. */
  readonly folder: string;
  /** The loaded passes in order; in a rebuild those of all nights. */
  readonly passes: readonly LoadedPass[];
  /** The state that it was made from; of a rebuild the night before. */
  readonly base: BaseState | undefined;
  readonly fingerprints: Manifest['fingerprints'];
  /** Starts of the last whole passes in the state, by stream. */
  readonly times: Manifest['last_pass_at'];
}

/**
 * Merges what the passes brought with the last snapshot, into the tables of a new one. Returns undefined if they brought
 * nothing new. Throws RECONCILE_SHRINK, RECONCILE_REJECTS and RECONCILE_DRIFT for what is not to be believed.
 */
export async function reconcile(
  job: Job,
  passes: readonly LoadedPass[],
  brought: Brought,
): Promise<State | undefined> {
  job.reporter.step('reconcile', 'with the last snapshot');
  killPoint('reconcile.begun');
  try {
    assertKnown(job, passes);
    assertReadable(job, passes);
    setFutureAside(job);
    const { base, target, runId } = job;
    if (base !== undefined && (await isNothingNew(job, base, passes, brought))) return undefined;
    const startedAt = job.startedAt.toISOString();
    const given = { target, base, runId, startedAt, allowShrink: job.config.allowShrink };
    const { context, counts, lotChanges } = await mergeNight(job, passes, given, brought.closings);
    await writeRuns(job, context, counts);
    const fingerprints = await recordFingerprints(context);
    const times = passTimes(base, passes);
    return { folder: target, passes, base, counts, lotChanges, fingerprints, times };
  } catch (error) {
    throw abandonHeld(job, passes, error);
  }
}

/**
 * Abandons the passes of a run that is held, since they cannot be trusted, so that the next run starts new ones. Passes with
 * unknown members can be trusted. Returns the error.
 */
export function abandonHeld(job: Job, passes: readonly LoadedPass[], error: unknown): unknown {
  const isHeld = error instanceof LotlakeError && error.stage === 'reconcile' && error.outcome === 'held';
  if (isHeld && error.code !== 'RECONCILE_DRIFT') {
    const end = { state: 'abandoned', reason: `held: ${error.message}`, complete: false } as const;
    for (const pass of passes) endPass(pass, end, job.now());
  }
  return error;
}

/** Holds a run that brings unknown members which no earlier run reported, if the configuration asks for that. */
function assertKnown({ config }: Job, passes: readonly LoadedPass[]): void {
  const fresh = passes.flatMap(({ drift }) => drift).filter(({ since }) => since === null);
  if (config.onDrift === 'report' || fresh.length === 0) return;
  throw new LotlakeError(
    'RECONCILE_DRIFT',
    `the service sends ${counted(fresh.length, 'member')} that lotlake does not know: ${fresh.map(({ stream, path }) => `${path} of ${stream}`).join(', ')}`,
    {
      outcome: 'held',
      hint: 'the last snapshot stays current and the pages stay in landing; to take the members into the column extra, run again with LOTLAKE_ON_DRIFT=report',
    },
  );
}

/** Fewer rejected records hold no run: a short list may have a few that are broken. */
const LEAST_REJECTED = 20;

/** Holds a run that could not read a large share of the records of a list: the lake would publish what little is left. */
function assertReadable({ config }: Job, passes: readonly LoadedPass[]): void {
  const unread = passes.filter(
    ({ rejected, records }) => rejected >= LEAST_REJECTED && rejected > config.rejectGuard * records,
  );
  if (unread.length === 0) return;
  const shares = unread.map(
    ({ record, rejected, records }) => `${count(rejected)} of ${count(records)} records of ${record.stream}`,
  );
  throw new LotlakeError('RECONCILE_REJECTS', `${shares.join(', ')} cannot be read and were rejected whole`, {
    outcome: 'held',
    hint: `the last snapshot stays current and the pages stay in ${passes[0]?.folder}; lotlake doctor shows what the service sends; to publish without these records, run again with LOTLAKE_REJECT_GUARD=1`,
  });
}

/** The tables of one night, merged with those of the night before, and what later rules read of them. */
export interface MergedNight extends Merged {
  readonly context: MergeContext;
}

/** Merges the staged rows of a night into the folder of a new state, and writes the tables of lotlake's own beside them. */
export async function mergeNight(
  job: Job,
  loaded: readonly LoadedPass[],
  given: Pick<MergeContext, 'target' | 'base' | 'runId' | 'startedAt' | 'allowShrink'>,
  closings: readonly ClosingRow[] = [],
): Promise<MergedNight> {
  makeFolder(given.target);
  const { connection, connect, alone, memoryBytes } = job.session;
  const cars = loaded.find(({ record }) => record.stream === 'cars');
  const context: MergeContext = {
    ...given,
    connection,
    connect,
    alone,
    memoryBytes,
    stage: job.stage,
    passes: loaded,
    schemas: job.schemas,
    recorded: job.recorded,
    snapshot: job.runId,
    seenAt: cars?.record.started_at ?? given.startedAt,
    shrinkGuard: job.config.shrinkGuard,
    mostRecordBytes: job.config.largestRecord << 20,
  };
  const merged = await job.session.whileWriting(() => mergeStaged(context));
  for (const warning of merged.warnings) job.reporter.warn(warning);
  await writePasses(job, context);
  await writeRejects(context, landedPassIds(job.layout.landing));
  await writeSystemTable(context, 'closings', closings);
  killPoint('reconcile.own-tables-written');
  return { ...merged, context };
}

/** Writes the rows of the loaded passes, and of abandoned ones that the base does not have. */
async function writePasses(job: Job, context: MergeContext): Promise<void> {
  const { connection, base, passes: loaded } = context;
  const known = new Set(base === undefined ? [] : await readIds(connection, base, 'passes', 'pass_id'));
  const abandoned = listPasses(job.layout.landing).filter(
    ({ record }) => record.state === 'abandoned' && !known.has(record.pass_id),
  );
  const passes = [...loaded, ...abandoned].map(({ record: { request, drift, ...pass } }) => ({
    ...pass,
    request: JSON.stringify(request),
    drift: JSON.stringify(drift),
  }));
  await writeSystemTable(context, 'passes', passes);
}

/**
 * Writes the rows of this run and of all runs since the one that made the base. That run wrote its own row before it ended,
 * so its row is written again.
 */
export async function writeRuns(job: Job, context: MergeContext, counts: Merged['counts']): Promise<void> {
  job.recorder.merged(counts);
  await writeSystemTable(context, 'runs', job.recorder.rows(job.base?.manifest.run_id));
}

export { carryOver } from './carry-over.js';
export { laterTimes, passTimes } from './pass-times.js';
export { recordFingerprints } from './record-fingerprints.js';
export type { ClosingRow } from './system-rows.js';
