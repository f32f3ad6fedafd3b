import { beside } from '../src/beyond/beside.js';
import { runJob } from '../src/core/job/job.js';
import { model, readModelling } from '../src/core/model/step.js';
import { publish, type RunResult } from '../src/core/publish/step.js';
import { replayAll } from '../src/core/rebuild/step.js';
import type { PipelineOptions } from './options.js';

/** Makes the lake again from landing, and publishes it. */
export function rebuild(options: PipelineOptions): Promise<RunResult> {
  return runJob('rebuild', { beside, ...options }, async (job) => {
    const models = await readModelling(job, options);
    const state = await replayAll(job);
    const marts = await model(job, state, models);
    return publish(job, state, marts);
  });
}
