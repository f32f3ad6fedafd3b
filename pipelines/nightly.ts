import { beside } from '../src/beyond/beside.js';
import { archiveRequest, CARS, minutesSince } from '../src/core/extract/requested.js';
import { stageReference } from '../src/core/extract/stage-reference.js';
import { stage } from '../src/core/extract/step.js';
import { type JobOptions, runJob } from '../src/core/job/job.js';
import { model } from '../src/core/model/step.js';
import { keepCurrent, publish, type RunResult } from '../src/core/publish/step.js';
import { reconcile } from '../src/core/reconcile/step.js';

/** The nightly job: a full pass over the feed, the archive since the last night, the statistics; then publish. */
export function nightly(options: JobOptions): Promise<RunResult> {
  return runJob('nightly', { beside, ...options }, async (job) => {
    const { sources, referenceDays } = job.config;
    const cars = await stage(job, 'cars', { kind: 'full', parameters: CARS, sources });
    const archive = await stage(job, 'archived_lots', await archiveRequest(job));
    const statistics = await stage(job, 'statistics', { kind: 'full', parameters: {} });
    const isReferenceDue = minutesSince(job, 'manufacturers') > referenceDays * 1440;
    const reference = isReferenceDue ? await stageReference(job, { everything: false }) : [];

    const passes = [...cars, ...archive, ...statistics, ...reference];
    const state = await reconcile(job, passes);
    if (state === undefined) return keepCurrent(job, passes);
    const marts = await model(job, state);
    return publish(job, state, marts);
  });
}
