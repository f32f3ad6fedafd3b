import { beside } from '../src/beyond/beside.js';
import { archiveRequest, changesRequest, stage } from '../src/core/extract/step.js';
import { runJob } from '../src/core/job/job.js';
import { model, readModelling } from '../src/core/model/step.js';
import { keepCurrent, publish, type RunResult } from '../src/core/publish/step.js';
import { reconcile } from '../src/core/reconcile/step.js';
import type { PipelineOptions } from './options.js';

/**
 * Requests what changed in the feed and the archive since the last pass, for the hours between full passes. A window proves
 * no absence, so nothing is archived as absent.
 */
export function incremental(options: PipelineOptions): Promise<RunResult> {
  return runJob('incremental', { beside, ...options }, async (job) => {
    const models = await readModelling(job, options);
    const cars = await stage(job, 'cars', await changesRequest(job));
    const archive = await stage(job, 'archived_lots', await archiveRequest(job));

    const passes = [...cars, ...archive];
    const state = await reconcile(job, passes, models);
    if (state === undefined) return keepCurrent(job, passes);
    const marts = await model(job, state, models);
    return publish(job, state, marts);
  });
}
