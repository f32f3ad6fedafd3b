import { messageOf } from '../../base/config/lotlake-error.js';
import type { Job } from '../job/job.js';
import { instant, type LandedPage } from '../lake/passes/landed-page.js';
import type { LoadedPass } from '../lake/passes/loaded-pass.js';
import { endPass, noteAnswer, type Pass, type PassRecord, syncPass } from '../lake/passes/pass.js';
import { landedPages, sinksOf } from '../land/step.js';
import { load, type PagesOf } from '../load/step.js';
import type { Answer } from '../service/client.js';
import { isFailure } from '../service/errors.js';
import type { ServiceRequest } from '../service/requests.js';
import { ATTEMPTS, isOfPage } from './fetch-page.js';
import { asPage } from './one-record.js';
import { findOrOpen } from './open-pass.js';

/** The request for one vehicle. */
export interface Lookup {
  /** Unique within the run. */
  readonly name: string;
  readonly request: ServiceRequest;
  /** Id of the vehicle that has to come, if the request names one. */
  readonly id?: number;
}

interface Staging {
  /** Whether an odd or failing answer ends the run. Else it costs its own vehicle. */
  readonly isStrict?: boolean;
  /** How the step is shown; by default it has none. */
  readonly detail?: string;
}

/**
 * The lookups that brought no record, by name: the service answered 404 or 410, the key lacks the source, the answer is no record
 * or does not come, or it is that of another vehicle.
 */
export type Unanswered = ReadonlyMap<string, PassRecord['answers'][string]>;

/**
 * Requests single vehicles and loads the answers as a pass of kind `lookup`. Such a pass proves no absence. An unpublished
 * lookup pass of the same pipeline is resumed, so that no vehicle is requested twice.
 */
export async function stageLookups(
  job: Job,
  lookups: readonly Lookup[],
  { isStrict = false, detail }: Staging = {},
): Promise<{ readonly passes: readonly LoadedPass[]; readonly unanswered: Unanswered }> {
  // Throws before a pass is opened, if this run must not use the service.
  job.client();
  if (detail !== undefined) job.reporter.step('extract', detail);
  const pass = await findOrOpen(job, 'cars', 'lookup', { pipeline: job.pipeline });
  const loaded = await load(job, pass, lookUp(job, pass, lookups, isStrict));
  return { passes: [loaded], unanswered: new Map(Object.entries(loaded.record.answers)) };
}

/** Yields the landed answers of a pass, then each as it is landed. After the last lookup the pass is sealed. */
async function* lookUp(job: Job, pass: Pass, lookups: readonly Lookup[], isStrict: boolean): PagesOf {
  yield* landedPages(job, pass);
  const client = job.client();
  const answers = new Map(Object.entries(pass.record.answers));
  const landed = new Set(pass.pages.map((page) => page.list));
  const sinkOf = sinksOf(pass, { mostRecordBytes: job.config.largestRecord << 20 });
  const report = (): void =>
    job.reporter.progress('lookups', landed.size + answers.size, lookups.length, landed.size, 0);
  report();
  let failedInTurn = 0;
  let again: Lookup[] = [];
  /** Asks for one vehicle. One that the service cannot serve is asked for once more after all others. */
  const ask = async (lookup: Lookup, isLast: boolean): Promise<LandedPage | undefined> => {
    const { name, request, id } = lookup;
    const sink = sinkOf(name);
    const land = async (answer: Answer) => sink.land(1, await asPage(answer, id), instant());
    // So many failures in turn say that the service fails, and not these vehicles: then it is waited for.
    const isWaiting = isStrict || failedInTurn >= Math.min(MOST_FAILED, lookups.length);
    try {
      const page = await client.get(
        request.path,
        request.query,
        land,
        job.signal,
        isWaiting ? undefined : ATTEMPTS,
      );
      landed.add(name);
      failedInTurn = 0;
      return page;
    } catch (error) {
      const answer = answerOf(error);
      const isOdd = answer === 'unreadable' || answer === 'other';
      if (answer === undefined || (isOdd && isStrict) || (isWaiting && isOfPage(error))) throw error;
      failedInTurn = isOfPage(error) ? failedInTurn + 1 : 0;
      if (isOfPage(error) && !isLast) again.push(lookup);
      else {
        if (isOdd) job.reporter.warn(`vehicle ${name} is left out of this lookup: ${messageOf(error)}`);
        noteAnswer(pass.folder, name, answer);
        answers.set(name, answer);
      }
      return undefined;
    } finally {
      report();
    }
  };
  for (const isLast of [false, true]) {
    const wanted = isLast ? again : lookups;
    again = [];
    for (const lookup of wanted) {
      if (landed.has(lookup.name) || answers.has(lookup.name)) continue;
      const page = await ask(lookup, isLast);
      if (page !== undefined) yield page;
    }
  }
  await syncPass(pass.folder);
  const end = { state: 'sealed', complete: false, reason: 'lookups', total: null } as const;
  return endPass(pass, { ...end, run_id: job.runId, sequence: job.sequence }, job.now());
}

/** Lookups that fail in turn before the run waits for the service. */
const MOST_FAILED = 3;

/** The outcome of a lookup that failed; undefined if the error is not about this vehicle. */
function answerOf(error: unknown): PassRecord['answers'][string] | undefined {
  if (isFailure(error, 'SERVICE_NOT_FOUND')) return 'missing';
  if (isFailure(error, 'SERVICE_SOURCE_REFUSED')) return 'refused';
  if (isFailure(error, 'SERVICE_OTHER_RECORD')) return 'other';
  const isOdd = isFailure(error, 'SERVICE_UNEXPECTED') || isFailure(error, 'SERVICE_BAD_REQUEST');
  return isOdd || isOfPage(error) ? 'unreadable' : undefined;
}
