import { join } from 'node:path';
import { NotFoundError } from '../src/service/errors/not-found-error.js';
import { SourceRefusedError } from '../src/service/errors/source-refused-error.js';
import { extractLookups, type Lookup } from './extract-lookups.js';
import { type RunResult, reconcileModelPublish } from './finish.js';
import { type JobOptions, runJob } from './job.js';

/** Asks for one vehicle and adds what came to the lake, without that counting as a pass over the feed. */
export function saveLookup(options: JobOptions, lookup: Lookup): Promise<RunResult> {
  return runJob('lookup', options, async (job) => {
    const stage = join(job.work, 'stage');
    const { pass, missing, refused } = await extractLookups(job, stage, [lookup]);
    if (missing.size > 0)
      throw new NotFoundError({
        method: 'GET',
        url: lookup.request.path,
        status: 404,
        detail: 'nothing was saved',
      });
    if (refused.size > 0)
      throw new SourceRefusedError({
        method: 'GET',
        url: lookup.request.path,
        status: 401,
        detail: 'nothing was saved',
      });
    return reconcileModelPublish(job, stage, [pass]);
  });
}
