import { extractStream } from '../src/run/extract-stream.js';
import { type RunResult, reconcileModelPublish } from '../src/run/finish.js';
import { type JobOptions, runJob } from '../src/run/job.js';
import { archiveRequest, changesRequest } from '../src/run/window.js';

/**
 * Requests what changed in the feed and the archive since the last pass, for the hours between full passes. A window proves
 * no absence, so nothing is archived as absent.
 */
export function incremental(options: JobOptions): Promise<RunResult> {
  return runJob('incremental', options, async (job) => {
    await extractStream(job, 'cars', await changesRequest(job));
    await extractStream(job, 'archived_lots', await archiveRequest(job));
    return reconcileModelPublish(job);
  });
}
