import { literal, scalar } from '../../base/duck/session.js';
import type { Job } from '../job/job.js';
import { unresolvedRuns } from '../job/run-records.js';
import type { BaseState } from '../lake/base.js';
import { tableRelation } from '../lake/files.js';
import { currentSnapshot } from '../lake/layout.js';
import type { LoadedPass } from '../lake/passes/loaded-pass.js';
import type { ClosingRow } from './system-rows.js';

/** A longer window is published even if it is empty: otherwise the next window would have to reach back further. */
const MOST_QUIET_MINUTES = 1440;

/** What decides the next snapshot beside the records of the passes. */
export interface Brought {
  /** Fingerprint of everything that decides the tables and marts, except the records. */
  readonly recipe: string;
  /** Lookups of vehicles, for `closings`. */
  readonly closings?: readonly ClosingRow[];
}

/**
 * Whether a snapshot of this run would equal the current one: every pass is a lookup or a complete window, and none has a
 * record. The run publishes all the same
 * - if it is the first run of a day (UTC), since marts count days;
 * - if a window is longer than a day;
 * - if there is an alarm about a failed run of its pipeline, or about an incomplete pass of the last one;
 * - if the current snapshot is damaged or its link is lost;
 * - if contract, SQL, seeds, settings or models of the user differ from those of the current snapshot;
 * - if it looked up vehicles, which `closings` records.
 */
export async function isNothingNew(
  job: Job,
  base: BaseState,
  passes: readonly LoadedPass[],
  { recipe, closings = [] }: Brought,
): Promise<boolean> {
  const dayOf = (instant: string): string => instant.slice(0, 10);
  return (
    passes.length > 0 &&
    passes.every(isQuiet) &&
    closings.length === 0 &&
    base.folder === currentSnapshot(job.layout) &&
    dayOf(base.manifest.created_at) === dayOf(job.now().toISOString()) &&
    base.manifest.recipe === recipe &&
    !unresolvedRuns(job.recorder.before).some(({ pipeline }) => pipeline === job.pipeline) &&
    !(await hasUnprovenPass(job, base))
  );
}

function isQuiet({ record: { kind, complete, records, request } }: LoadedPass): boolean {
  const isShort = kind === 'window' && complete && Number(request.minutes) <= MOST_QUIET_MINUTES;
  return records === 0 && (isShort || kind === 'lookup');
}

/** Whether there is an alarm about an incomplete pass of the last run of this pipeline. */
async function hasUnprovenPass({ session, pipeline }: Job, base: BaseState): Promise<boolean> {
  if (base.manifest.marts.data_health === undefined) return false;
  const alarms = await scalar(
    session.connection,
    `select count(*) from ${tableRelation(base, 'data_health')}
    where is_current and is_alarm and metric = 'incomplete_passes' and pipeline = ${literal(pipeline)}`,
  );
  return alarms > 0;
}
