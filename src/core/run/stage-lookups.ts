import type { Answer } from '../extract/client.js';
import { asPage } from '../extract/one-record.js';
import { instant } from '../extract/page-sink.js';
import type { LandedPage } from '../land/page.js';
import { sinksOf } from '../land/page-sinks.js';
import { endPass, noteAnswer, type Pass, type PassRecord, syncPass } from '../land/pass.js';
import type { LoadedPass } from '../load/loader.js';
import { isFailure } from '../service/errors.js';
import type { ServiceRequest } from '../service/requests.js';
import type { Job } from './job.js';
import { landedPages } from './landed-pages.js';
import { load } from './load.js';
import { findOrOpen } from './open-pass.js';

/** The request for one vehicle. */
export interface Lookup {
  /** Unique within the run. */
  readonly name: string;
  readonly request: ServiceRequest;
}

/** The lookups that brought no record, by name: the service answered 404, or the key lacks the source. */
export type Unanswered = ReadonlyMap<string, PassRecord['answers'][string]>;

/**
 * Requests single vehicles and loads the answers as a pass of kind `lookup`. Such a pass proves no absence. An unpublished
 * lookup pass of the same pipeline is resumed, so that no vehicle is requested twice.
 */
export async function stageLookups(
  job: Job,
  lookups: readonly Lookup[],
): Promise<{ readonly passes: readonly LoadedPass[]; readonly unanswered: Unanswered }> {
  // Throws before a pass is opened, if this run must not use the service.
  job.client();
  const pass = await findOrOpen(job, 'cars', 'lookup', { pipeline: job.pipeline });
  const loaded = await load(job, pass, lookUp(job, pass, lookups));
  return { passes: [loaded], unanswered: new Map(Object.entries(loaded.record.answers)) };
}

/** Yields the landed answers of a pass, then each as it is landed. After the last lookup the pass is sealed. */
async function* lookUp(job: Job, pass: Pass, lookups: readonly Lookup[]): AsyncGenerator<LandedPage> {
  yield* landedPages(job, pass);
  const client = job.client();
  const answers = new Map(Object.entries(pass.record.answers));
  const landed = new Set(pass.pages.map((page) => page.list));
  const sinkOf = sinksOf(pass, { mostRecordBytes: job.config.largestRecord << 20 });
  const report = (): void =>
    job.reporter.progress('lookups', landed.size + answers.size, lookups.length, landed.size, 0);
  report();
  for (const { name, request } of lookups) {
    if (landed.has(name) || answers.has(name)) continue;
    const sink = sinkOf(name);
    const land = async (answer: Answer) => sink.land(1, await asPage(answer), instant());
    try {
      const page = await client.get(request.path, request.query, land, job.signal);
      landed.add(name);
      yield page;
    } catch (error) {
      const answer = answerOf(error);
      noteAnswer(pass.folder, name, answer);
      answers.set(name, answer);
    }
    report();
  }
  await syncPass(pass.folder);
  const end = { state: 'sealed', complete: false, reason: 'lookups', total: null } as const;
  endPass(pass, { ...end, run_id: job.runId, sequence: job.sequence }, job.now());
}

/** The outcome of a lookup that failed. Rethrows an error that is not about this vehicle. */
function answerOf(error: unknown): PassRecord['answers'][string] {
  if (isFailure(error, 'SERVICE_NOT_FOUND')) return 'missing';
  if (isFailure(error, 'SERVICE_SOURCE_REFUSED')) return 'refused';
  throw error;
}
