import { removeLeftLookups } from '../src/lake/leftovers.js';
import { extractLookups, type Lookup } from '../src/run/extract-lookups.js';
import { type RunResult, reconcileModelPublish } from '../src/run/finish.js';
import { type JobOptions, runJob } from '../src/run/job.js';
import { errorFromAnswer } from '../src/service/errors.js';

/**
 * Looks up one vehicle and adds it to the lake. That does not count as a pass over the feed. A lookup that fails leaves
 * nothing in landing.
 */
export function saveLookup(options: JobOptions, lookup: Lookup): Promise<RunResult> {
  return runJob('lookup', options, async (job) => {
    try {
      const answers = await extractLookups(job, [lookup]);
      const answer = answers.get(lookup.name);
      if (answer !== undefined) throw lookupError(lookup, answer);
      return await reconcileModelPublish(job);
    } catch (error) {
      removeLeftLookups(job.layout);
      throw error;
    }
  });
}

function lookupError({ request }: Lookup, answer: 'missing' | 'refused'): Error {
  const status = answer === 'missing' ? 404 : 401;
  return errorFromAnswer({ url: request.path, detail: 'nothing was saved', status });
}
