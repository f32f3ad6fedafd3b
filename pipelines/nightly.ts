import { extractReference } from '../src/run/extract-reference.js';
import { extractStream } from '../src/run/extract-stream.js';
import { type RunResult, reconcileModelPublish } from '../src/run/finish.js';
import { type JobOptions, runJob } from '../src/run/job.js';
import { archiveRequest, CARS, minutesSince } from '../src/run/window.js';

/** The nightly job: a full pass over the feed, the archive since the last night, the statistics; then publish. */
export function nightly(options: JobOptions): Promise<RunResult> {
  return runJob('nightly', options, async (job) => {
    const { sources, referenceDays } = job.config;
    await extractStream(job, 'cars', { kind: 'full', parameters: CARS, sources });
    await extractStream(job, 'archived_lots', await archiveRequest(job));
    await extractStream(job, 'statistics', { kind: 'full', parameters: {} });
    const isReferenceDue = minutesSince(job, 'manufacturers') > referenceDays * 1440;
    if (isReferenceDue) await extractReference(job, { everything: false });
    return reconcileModelPublish(job);
  });
}
