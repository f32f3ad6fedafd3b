import { extractStream } from '../src/run/extract-stream.js';
import { type RunResult, reconcileModelPublish } from '../src/run/finish.js';
import { type JobOptions, runJob } from '../src/run/job.js';
import { archiveRequest, changesRequest } from '../src/run/window.js';

/**
 * What changed in the feed and the archive since the last pass, for hours between full passes. A window shows what is
 * there, never what is absent: nothing is archived for absence.
 */
export function incremental(options: JobOptions): Promise<RunResult> {
  return runJob('incremental', options, async (job) => {
    const changes = changesRequest(job);
    const detail = `cars, the last ${changes.parameters.minutes} minutes`;
    await extractStream(job, 'cars', changes, detail);
    await extractStream(job, 'archived_lots', archiveRequest(job));
    return reconcileModelPublish(job);
  });
}
