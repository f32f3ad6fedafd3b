import { beside } from '../src/beyond/beside.js';
import { stageReference } from '../src/core/extract/step.js';
import { runJob } from '../src/core/job/job.js';
import { model, readModelling } from '../src/core/model/step.js';
import { keepCurrent, publish, type RunResult } from '../src/core/publish/step.js';
import { reconcile } from '../src/core/reconcile/step.js';
import type { PipelineOptions } from './options.js';

/** Walks the catalog and the reference lists of the service, and publishes them with the rest of the lake. */
export function reference(options: PipelineOptions): Promise<RunResult> {
  return runJob('reference', { beside, ...options }, async (job) => {
    const models = await readModelling(job, options);
    const passes = await stageReference(job, { everything: options.everything ?? false });
    const state = await reconcile(job, passes, models);
    if (state === undefined) return keepCurrent(job, passes);
    const marts = await model(job, state, models);
    return publish(job, state, marts);
  });
}
