import { beside } from '../src/beyond/beside.js';
import { archiveRequest, CARS, minutesSince, stage, stageReference } from '../src/core/extract/step.js';
import { runJob } from '../src/core/job/job.js';
import { model, readModelling } from '../src/core/model/step.js';
import { keepCurrent, publish, type RunResult } from '../src/core/publish/step.js';
import { reconcile } from '../src/core/reconcile/step.js';
import type { PipelineOptions } from './options.js';

/** The nightly job: a full pass over the feed, the archive since the last night, the statistics; then publish. */
export function nightly(options: PipelineOptions): Promise<RunResult> {
  return runJob('nightly', { beside, ...options }, async (job) => {
    const models = await readModelling(job, options);
    const { sources, referenceDays } = job.config;
    const cars = await stage(job, 'cars', { kind: 'full', parameters: CARS, sources });
    const archive = await stage(job, 'archived_lots', await archiveRequest(job));
    const statistics = await stage(job, 'statistics', { kind: 'full', parameters: {} });
    const isReferenceDue = minutesSince(job, 'manufacturers') > referenceDays * 1440;
    const reference = isReferenceDue ? await stageReference(job, { everything: false }) : [];

    const passes = [...cars, ...archive, ...statistics, ...reference];
    const state = await reconcile(job, passes, models);
    if (state === undefined) return keepCurrent(job, passes);
    const marts = await model(job, state, models);
    return publish(job, state, marts);
  });
}
