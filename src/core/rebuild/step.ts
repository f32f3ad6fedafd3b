import { join } from 'node:path';
import { makeFolder, remove } from '../../base/config/owned.js';
import type { Job } from '../job/job.js';
import type { BaseState } from '../lake/base.js';
import { describeSnapshot } from '../lake/describe.js';
import type { LoadedPass } from '../lake/passes/loaded-pass.js';
import type { Pass } from '../lake/passes/pass.js';
import { systemTables } from '../lake/tables.js';
import { landedPages, progressOf } from '../land/step.js';
import { load, type PagesOf } from '../load/step.js';
import {
  carryOver,
  laterTimes,
  type MergedNight,
  mergeNight,
  passTimes,
  recordFingerprints,
  type State,
  writeRuns,
} from '../reconcile/step.js';
import { findCarriers } from './carriers.js';
import { landedNights, type Night } from './nights.js';

/**
 * Makes the lake again from landing: replays the sealed passes night by night, oldest first, onto an empty lake, and
 * carries over the rows of the published snapshot whose passes landing no longer holds.
 */
export async function replayAll(job: Job): Promise<State> {
  job.reporter.step('check', 'the published snapshot against its checksums');
  const carriers = await findCarriers(job);
  const nights = await landedNights(job, carriers);
  const { last, passes } = await replayNights(job, nights);
  const { context, counts, lotChanges } = last;
  await writeRuns(job, context, counts);
  let isCarried = false;
  for (const [i, carrier] of carriers.entries()) {
    job.reporter.step('carry over', `what only snapshot ${carrier.manifest.snapshot_id} knows`);
    if (await job.session.whileWriting(() => carryOver(context, carrier, i > 0))) isCarried = true;
  }
  const fingerprints = await recordFingerprints(context, isCarried);
  // A damaged snapshot may have lost the rows of its last passes.
  const known = carriers.find(({ damaged }) => damaged.size === 0)?.manifest.last_pass_at;
  const { target: folder, base } = context;
  const times = laterTimes(job, passTimes(base, passes), known);
  return { folder, passes, base, counts, lotChanges, fingerprints, times };
}

/** Replays nights, each onto the one before. Returns the last one, and the passes of all. */
async function replayNights(job: Job, nights: readonly Night[]) {
  const passes: LoadedPass[] = [];
  let last: ReplayedNight | undefined;
  let sealed: BaseState | undefined;
  for (const [i, night] of nights.entries()) {
    const isLast = i === nights.length - 1;
    const folder = isLast ? job.target : join(job.work, `state-${i}`);
    job.reporter.step('replay', `${night.runId} (${i + 1} of ${nights.length})`);
    last = await replay(job, night, folder, sealed);
    // Only the state of its night needs the fingerprints of all records.
    passes.push(...last.passes.map((pass) => ({ ...pass, prints: [] })));
    if (!isLast) sealed = await sealNight(job, last);
  }
  if (last === undefined) throw new TypeError('no night was replayed');
  return { last, passes };
}

/** A night that was replayed. */
interface ReplayedNight extends MergedNight {
  readonly passes: readonly LoadedPass[];
}

/** Loads the passes of a night and merges them with the state of the nights before. */
async function replay(
  job: Job,
  night: Night,
  target: string,
  base: BaseState | undefined,
): Promise<ReplayedNight> {
  const { runId } = night;
  const stage = join(job.work, `stage-${runId}`);
  makeFolder(stage);
  const own: Job = { ...job, stage };
  const passes: LoadedPass[] = [];
  for (const pass of night.passes) passes.push(await load(own, pass, replayedPages(job, pass)));
  const startedAt = startOf(night) ?? job.startedAt.toISOString();
  // The shrink guard decided in that night.
  const given = { target, base, runId, startedAt, allowShrink: true };
  return { ...(await mergeNight(own, passes, given)), passes };
}

/**
 * When the run of a night began, as far as rules depend on it: not before the end of its first pass if it went on with the
 * pass of an earlier run, since another run may have seen vehicles in between; otherwise with the pass.
 */
function startOf({ runId, passes: [first] }: Night): string | undefined {
  if (first === undefined) return undefined;
  const { pass_id, started_at, ended_at } = first.record;
  const secondIn = (id: string): string => id.replace(/-.*/, '');
  return secondIn(pass_id) < secondIn(runId) ? (ended_at ?? started_at) : started_at;
}

/** Yields the landed pages of a pass, and reports them. */
async function* replayedPages(job: Job, pass: Pass): PagesOf {
  const report = progressOf(job, { ...pass, pages: [] });
  for await (const page of landedPages(job, pass)) {
    report(page, pass.pages.length);
    yield page;
  }
  return pass.record;
}

/** Describes the state of a replayed night, so that the next night can build on it. */
async function sealNight(job: Job, { context }: MergedNight): Promise<BaseState> {
  const { runId, target: folder, stage } = context;
  const fingerprints = await recordFingerprints(context);
  remove(stage);
  const facts = {
    run_id: runId,
    snapshot_id: runId,
    sequence: job.sequence,
    pipeline: 'rebuild',
    fingerprints,
    created_at: job.now().toISOString(),
    origin: null,
    pass_ids: [],
    last_pass_at: {},
  };
  // A rebuild writes its one row of `runs` at its end.
  const own = systemTables.filter(({ name }) => name !== 'runs');
  const { session, schemas, recorded } = job;
  const described = await describeSnapshot(session.connection, folder, schemas, [], { own, recorded });
  return { folder, manifest: { ...facts, ...described } };
}
