import { beside } from '../src/beyond/beside.js';
import { type JobOptions, runJob } from '../src/core/run/job.js';
import { model } from '../src/core/run/model.js';
import { keepCurrent, publish, type RunResult } from '../src/core/run/publish.js';
import { reconcile } from '../src/core/run/reconcile.js';
import { stageReference } from '../src/core/run/stage-reference.js';

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
