import type { Answer } from '../extract/client.js';
import { asPage } from '../extract/one-record.js';
import { instant } from '../extract/page-sink.js';
import { endPass, noteAnswer, type PassManifest, syncPass } from '../land/pass.js';
import { sinksOf } from '../land/sink.js';
import { isFailure } from '../service/errors.js';
import type { ServiceRequest } from '../service/requests.js';
import { findOrOpen } from './find-pass.js';
import type { Job } from './job.js';
import { loadPass } from './load-pass.js';

/** The request for one vehicle. */
export interface Lookup {
  /** Unique within the run. */
  readonly name: string;
  readonly request: ServiceRequest;
}

/**
 * Requests single vehicles, lands the answers as a pass of kind `lookup` and loads them. Such a pass proves no absence. An
 * unpublished lookup pass of the same pipeline is resumed, so that no vehicle is requested twice.
 * @returns the lookups that brought no record, by name: the service answered 404, or the key lacks the source
 */
export async function extractLookups(job: Job, lookups: readonly Lookup[]) {
  const client = job.client();
  const pass = await findOrOpen(job, 'cars', 'lookup', { pipeline: job.pipeline });
  const answers = new Map(Object.entries(pass.manifest.answers));
  const landed = new Set(pass.pages.map((page) => page.list));
  const sinkOf = sinksOf(pass, { mostRecordBytes: job.config.largestRecord << 20 });
  await loadPass(job, pass, undefined, async (add) => {
    const report = (): void =>
      job.reporter.progress('lookups', landed.size + answers.size, lookups.length, landed.size, 0);
    report();
    for (const { name, request } of lookups) {
      if (landed.has(name) || answers.has(name)) continue;
      const sink = sinkOf(name);
      const land = async (answer: Answer) => sink.land(1, await asPage(answer), instant());
      try {
        add(await client.get(request.path, request.query, land, job.signal));
        landed.add(name);
      } catch (error) {
        const answer = answerOf(error);
        noteAnswer(pass.folder, name, answer);
        answers.set(name, answer);
      }
      report();
    }
    await syncPass(pass.folder);
    const end = { state: 'sealed', complete: false, reason: 'lookups', total: null } as const;
    return endPass(pass, { ...end, run_id: job.runId }, job.now());
  });
  return answers;
}

/** The outcome of a lookup that failed. Rethrows an error that is not about this vehicle. */
function answerOf(error: unknown): PassManifest['answers'][string] {
  if (isFailure(error, 'SERVICE_NOT_FOUND')) return 'missing';
  if (isFailure(error, 'SERVICE_SOURCE_REFUSED')) return 'refused';
  throw error;
}
