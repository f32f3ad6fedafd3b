import { join } from 'node:path';
import { beside } from '../src/beyond/beside.js';
import { type JobOptions, runJob } from '../src/core/job/job.js';
import type { BaseState } from '../src/core/lake/base.js';
import type { LoadedPass } from '../src/core/lake/passes/loaded-pass.js';
import { model } from '../src/core/model/step.js';
import { publish, type RunResult } from '../src/core/publish/step.js';
import {
  findCarriers,
  landedNights,
  type ReplayedNight,
  replay,
  sealNight,
} from '../src/core/rebuild/step.js';
import { carryOver } from '../src/core/reconcile/carry-over.js';
import { laterTimes, passTimes } from '../src/core/reconcile/pass-times.js';
import { recordFingerprints } from '../src/core/reconcile/record-fingerprints.js';
import { writeRuns } from '../src/core/reconcile/step.js';

/**
 * Makes the lake again from landing: replays the sealed passes night by night, oldest first, onto an empty lake, and
 * carries over the rows of the published snapshot whose passes landing no longer holds.
 */
export function rebuild(options: JobOptions): Promise<RunResult> {
  return runJob('rebuild', { beside, ...options }, async (job) => {
    job.reporter.step('check', 'the published snapshot against its checksums');
    const carriers = await findCarriers(job);
    const nights = await landedNights(job, carriers);
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
    const times = laterTimes(job, passTimes(context.base, passes), known);

    const { target: folder, base } = context;
    const state = { folder, passes, base, counts, lotChanges, fingerprints, times };
    const marts = await model(job, state);
    return publish(job, state, marts);
  });
}
