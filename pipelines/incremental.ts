import { beside } from '../src/beyond/beside.js';
import { type JobOptions, runJob } from '../src/core/run/job.js';
import { model } from '../src/core/run/model.js';
import { keepCurrent, publish, type RunResult } from '../src/core/run/publish.js';
import { reconcile } from '../src/core/run/reconcile.js';
import { archiveRequest, changesRequest } from '../src/core/run/requested.js';
import { stage } from '../src/core/run/stage.js';

/**
 * Requests what changed in the feed and the archive since the last pass, for the hours between full passes. A window proves
 * no absence, so nothing is archived as absent.
 */
export function incremental(options: JobOptions): Promise<RunResult> {
  return runJob('incremental', { beside, ...options }, async (job) => {
    const cars = await stage(job, 'cars', await changesRequest(job));
    const archive = await stage(job, 'archived_lots', await archiveRequest(job));

    const passes = [...cars, ...archive];
    const state = await reconcile(job, passes);
    if (state === undefined) return keepCurrent(job, passes);
    const marts = await model(job, state);
    return publish(job, state, marts);
  });
}
