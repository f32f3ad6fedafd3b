import { extractReference } from '../src/run/extract-reference.js';
import { type RunResult, reconcileModelPublish } from '../src/run/finish.js';
import { type JobOptions, runJob } from '../src/run/job.js';

/** Walks the catalog and the reference lists of the service, and publishes them with the rest of the lake. */
export function reference(options: JobOptions): Promise<RunResult> {
  return runJob('reference', options, async (job) => {
    await extractReference(job, { everything: options.everything ?? false });
    return reconcileModelPublish(job);
  });
}
