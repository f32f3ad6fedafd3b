import { extractReference } from '../src/run/extract-reference.js';
import { extractStream } from '../src/run/extract-stream.js';
import { type RunResult, reconcileModelPublish } from '../src/run/finish.js';
import { type Job, type JobOptions, runJob } from '../src/run/job.js';
import { archiveRequest, CARS } from '../src/run/window.js';

/** The nightly job: a full pass over the feed, what was archived since the last one, the statistics; then publish. */
export function nightly(options: JobOptions): Promise<RunResult> {
  return runJob('nightly', options, async (job) => {
    const { sources } = job.config;
    const passes = [
      ...(await extractStream(job, 'cars', { kind: 'full', parameters: CARS, sources })),
      ...(await extractStream(job, 'archived_lots', archiveRequest(job))),
      ...(await extractStream(job, 'statistics', { kind: 'full', parameters: {} })),
      ...(isReferenceDue(job) ? await extractReference(job, { everything: false }) : []),
    ];
    return reconcileModelPublish(job, passes);
  });
}

/** Whether the catalog and the reference lists are older than configured, or were never read. */
function isReferenceDue(job: Job): boolean {
  const last = job.base?.manifest.last_pass_at.manufacturers;
  if (last === undefined) return true;
  return job.now().getTime() - Date.parse(last) > job.config.referenceDays * 86_400_000;
}
