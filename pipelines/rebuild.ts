import { join } from 'node:path';
import type { BaseState } from '../src/lake/base.js';
import { carryOver } from '../src/reconcile/carry-over.js';
import { recordFingerprints } from '../src/run/fingerprints.js';
import { modelAndPublish, type RunResult } from '../src/run/finish.js';
import { type JobOptions, runJob } from '../src/run/job.js';
import { type Merged, recordRun } from '../src/run/merge.js';
import { findCarriers, landedNights, replay, sealNight } from '../src/run/replay.js';
import { laterTimes, passTimes } from '../src/run/window.js';

/**
 * Makes the lake again from landing: replays the sealed passes night by night, oldest first, onto an empty lake, and
 * carries over the rows of the published snapshot whose passes landing no longer holds.
 */
export function rebuild(options: JobOptions): Promise<RunResult> {
  return runJob('rebuild', options, async (job) => {
    job.reporter.step('check', 'the published snapshot against its checksums');
    const carriers = await findCarriers(job);
    const nights = await landedNights(job, carriers);
    let last: Merged | undefined;
    let state: BaseState | undefined;
    for (const [i, night] of nights.entries()) {
      const isLast = i === nights.length - 1;
      const folder = isLast ? job.target : join(job.work, `state-${i}`);
      job.reporter.step('replay', `${night.runId} (${i + 1} of ${nights.length})`);
      last = await replay(job, night, folder, state);
      // Only the state of its night needs the changes of a pass, which hold the fingerprints of all its records.
      job.passes.push(...last.context.passes.map(({ changes: _, ...pass }) => pass));
      if (!isLast) state = await sealNight(job, last);
    }
    if (last === undefined) throw new TypeError('no night was replayed');
    await recordRun(job, last);
    const { context } = last;
    let hasRows = false;
    for (const [i, carrier] of carriers.entries()) {
      job.reporter.step('carry over', `what only snapshot ${carrier.manifest.snapshot_id} knows`);
      const isCarried = await job.session.whileWriting(() => carryOver(context, carrier, i > 0));
      hasRows ||= isCarried;
    }
    const fingerprints = await recordFingerprints(context, hasRows);
    const times = laterTimes(
      job,
      passTimes(context.base, job.passes),
      // A damaged snapshot may have lost the rows of its last passes.
      carriers.find(({ isSound }) => isSound)?.manifest.last_pass_at,
    );
    return modelAndPublish(job, last, fingerprints, times);
  });
}
