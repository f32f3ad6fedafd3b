import { beside } from '../src/beyond/beside.js';
import { type JobOptions, runJob } from '../src/core/run/job.js';
import { model } from '../src/core/run/model.js';
import { keepCurrent, publish, type RunResult } from '../src/core/run/publish.js';
import { reconcile } from '../src/core/run/reconcile.js';
import { archiveRequest, CARS, minutesSince } from '../src/core/run/requested.js';
import { stage } from '../src/core/run/stage.js';
import { stageReference } from '../src/core/run/stage-reference.js';

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
