import { literal, scalar } from '../duck/session.js';
import type { BaseState } from '../lake/base.js';
import { globRelation } from '../lake/files.js';
import { currentSnapshot } from '../lake/layout.js';
import { unresolvedRuns } from '../lake/run-records.js';
import type { LoadedPass } from '../load/loader.js';
import { readChecks } from '../model/checks.js';
import type { ClosingRow } from '../reconcile/own-rows.js';
import { fingerprintOf, rowCode } from './fingerprints.js';
import type { Job } from './job.js';

/** A window that reaches back further than this moves the time of the last pass on, though it is empty. */
const MOST_QUIET_MINUTES = 1440;

/**
 * Whether a snapshot of this run would say nothing that the current one does not: every pass is a lookup or a whole
 * window, and none has a record. It publishes all the same
 * - on the first run of a day (UTC), since marts count days, and for a window longer than a day, since the next one
 *   would reach back further still;
 * - where a run of its pipeline that failed, or a pass of its last one that was not whole, stands as an alarm;
 * - where the current snapshot is damaged or its link is lost;
 * - where contract, SQL, seeds, settings or models of the user are others than those of the current snapshot;
 * - where vehicles that were asked for are gone, which `closings` keeps.
 */
export async function isNothingNew(
  job: Job,
  base: BaseState,
  closings: readonly ClosingRow[],
): Promise<boolean> {
  const dayOf = (instant: string): string => instant.slice(0, 10);
  return (
    job.passes.length > 0 &&
    job.passes.every(isQuiet) &&
    closings.length === 0 &&
    base.folder === currentSnapshot(job.layout) &&
    dayOf(base.manifest.created_at) === dayOf(job.now().toISOString()) &&
    base.manifest.recipe === recipeOf(job) &&
    !unresolvedRuns(job.recorder.before).some(({ pipeline }) => pipeline === job.pipeline) &&
    !(await hasUnprovenPass(job, base))
  );
}

function isQuiet({ manifest: { kind, complete, records, request } }: LoadedPass): boolean {
  const isShort = kind === 'window' && complete && Number(request.minutes) <= MOST_QUIET_MINUTES;
  return records === 0 && (isShort || kind === 'lookup');
}

/** Whether an alarm stands that a pass of the last run of this pipeline was not whole. */
async function hasUnprovenPass(
  { session, pipeline }: Job,
  { folder, manifest }: BaseState,
): Promise<boolean> {
  if (manifest.marts.data_health === undefined) return false;
  const alarms = await scalar(
    session.connection,
    `select count(*) from ${globRelation(folder, 'data_health', false)}
    where is_current and is_alarm and metric = 'incomplete_passes' and pipeline = ${literal(pipeline)}`,
  );
  return alarms > 0;
}

/** Fingerprint of all that tables and marts are made by, besides the records. */
export function recipeOf(job: Job): string {
  const { models, checks = readChecks() } = job.modelling;
  return fingerprintOf([rowCode(), job.recorder.record.limits, models, checks, job.own]);
}
