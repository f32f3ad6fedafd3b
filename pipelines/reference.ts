import { beside } from '../src/beyond/beside.js';
import { stageReference } from '../src/core/extract/stage-reference.js';
import { type JobOptions, runJob } from '../src/core/job/job.js';
import { model } from '../src/core/model/step.js';
import { keepCurrent, publish, type RunResult } from '../src/core/publish/step.js';
import { reconcile } from '../src/core/reconcile/step.js';

/** Walks the catalog and the reference lists of the service, and publishes them with the rest of the lake. */
export function reference(options: JobOptions): Promise<RunResult> {
  return runJob('reference', { beside, ...options }, async (job) => {
    const passes = await stageReference(job, { everything: options.everything ?? false });
    const state = await reconcile(job, passes);
    if (state === undefined) return keepCurrent(job, passes);
    const marts = await model(job, state);
    return publish(job, state, marts);
  });
}
