import { beside } from '../src/beyond/beside.js';
import { type Lookup, stageLookups, type Unanswered } from '../src/core/extract/step.js';
import { runJob } from '../src/core/job/job.js';
import { removeLeftLookups } from '../src/core/job/leftovers.js';
import { model, readModelling } from '../src/core/model/step.js';
import { keepCurrent, publish, type RunResult } from '../src/core/publish/step.js';
import { reconcile } from '../src/core/reconcile/step.js';
import { ServiceError } from '../src/core/service/errors.js';
import type { PipelineOptions } from './options.js';

/**
 * Looks up one vehicle and adds it to the lake. That does not count as a pass over the feed. A lookup that fails leaves
 * nothing in landing.
 */
export function saveLookup(options: PipelineOptions, lookup: Lookup): Promise<RunResult> {
  return runJob('lookup', { beside, ...options }, async (job) => {
    const models = await readModelling(job, options);
    try {
      const { passes, unanswered } = await stageLookups(job, [lookup], { isStrict: true });
      const answer = unanswered.get(lookup.name);
      if (answer !== undefined) throw lookupError(lookup, answer);
      const state = await reconcile(job, passes, models);
      if (state === undefined) return await keepCurrent(job, passes);
      const marts = await model(job, state, models);
      return await publish(job, state, marts);
    } catch (error) {
      removeLeftLookups(job.layout);
      throw error;
    }
  });
}

function lookupError({ request }: Lookup, answer: NonNullable<ReturnType<Unanswered['get']>>): Error {
  const facts = { url: request.path, detail: 'nothing was saved' };
  return answer === 'refused'
    ? new ServiceError('SERVICE_SOURCE_REFUSED', { ...facts, status: 401 })
    : new ServiceError('SERVICE_NOT_FOUND', { ...facts, status: 404 });
}
