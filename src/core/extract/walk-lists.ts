import { join } from 'node:path';
import { killPoint } from '../../base/config/kill-point.js';
import { makeFolder } from '../../base/config/owned.js';
import { count } from '../../base/config/printable.js';
import type { Job } from '../job/job.js';
import { tableRelation } from '../lake/files.js';
import { indexAbove } from '../lake/passes/fingerprints.js';
import { landedHashes } from '../lake/passes/group.js';
import { knownRecords, vehicleIds } from '../lake/passes/known-records.js';
import type { LandedPage } from '../lake/passes/landed-page.js';
import { changePass, endPass, listPasses, type Pass, syncPass } from '../lake/passes/pass.js';
import { type Comparison, landedPages, progressOf, sinksOf } from '../land/step.js';
import type { PagesOf } from '../load/step.js';
import { isFailure } from '../service/errors.js';
import { requests } from '../service/requests.js';
import { streams } from '../service/streams.js';
import type { Source, WalkResult } from './plan.js';
import { isScroll } from './probe.js';
import { walkScroll } from './scroll.js';
import { watchSources } from './sources.js';
import { walk } from './walk.js';

/** One of the lists of a stream. */
export interface List {
  /** Unique in the stream, such as the id of the state whose cities it holds; empty if the stream has one list. */
  readonly name: string;
  /** Parameters of the list, in addition to those of the pass. */
  readonly parameters?: RequestParameters;
  /** The only source in the list. A key without this source loses the list and no other. */
  readonly source?: number;
}

/** Parameters by the names of the service; flags are booleans. */
export type RequestParameters = Readonly<Record<string, unknown>>;

/** How the lists of a pass are requested. */
export interface Lists {
  /** Parameters of every request, without the page. */
  readonly parameters: RequestParameters;
  readonly lists: readonly List[];
}

/**
 * Yields the pages of a pass: those that an earlier run landed, then each that the walk over its lists lands. After the last
 * page the pass is sealed. A pass that an earlier run sealed is only read.
 */
export async function* extract(job: Job, pass: Pass, requested: Lists): PagesOf {
  yield* landedPages(job, pass);
  const record =
    pass.record.state === 'sealed'
      ? changePass(pass.folder, { run_id: job.runId, sequence: job.sequence })
      : yield* walkLists(job, pass, requested);
  const { stream, complete, reason } = record;
  // If a complete full pass has no reason, what it lacks is absent. A reason names what even a complete one does not prove.
  if (reason !== null)
    job.reporter.warn(
      `the pass over ${streams[stream].path} ${complete ? 'does not prove all' : 'proves no absence'}: ${reason}`,
    );
  return record;
}

type Walked = WalkResult & { readonly list: List };

/** Walks the lists of a pass to their end, and seals it. Yields each page once it is landed. */
async function* walkLists(job: Job, pass: Pass, { parameters, lists }: Lists): PagesOf {
  const walked: Walked[] = [];
  const report = progressOf(job, pass);
  const tell = (page: LandedPage): void => {
    warnOfUnserved(job, pass, page);
    warnOfOversized(job, pass, page);
    report(page, lists.length === 1 ? page.lastPage : null);
  };
  const sinkOf = sinksOf(pass, {
    fresh: freshOf(job, pass),
    mostRecordBytes: job.config.largestRecord << 20,
    tell,
  });
  if (lists.every((list) => list.source === undefined)) await watchSources(job, pass);
  for (const list of lists) {
    const asked = { ...parameters, ...list.parameters };
    try {
      walked.push({ list, ...(yield* walkOne(job, pass, list, asked, sinkOf(list.name))) });
    } catch (error) {
      const isLast = list === lists.at(-1) && walked.length === 0;
      if (!isFailure(error, 'SERVICE_SOURCE_REFUSED') || list.source === undefined || isLast) throw error;
      job.reporter.warn(`source ${list.source} is left out, and stays as the lake has it: ${error.message}`);
    }
  }
  await watchSources(job, pass, sourcesOf(walked));
  killPoint('extract.list-walked');
  await syncPass(pass.folder);
  const end = { ...endOf(pass, walked), run_id: job.runId, sequence: job.sequence };
  const record = endPass(pass, end, job.now());
  killPoint('land.pass-sealed');
  return record;
}

/** What landing compares the records of vehicles with, and where it writes those that the lake does not have. */
function freshOf(
  job: Job,
  { record: { stream, pass_id, form, group } }: Pass,
): (Comparison & { readonly folder: string }) | undefined {
  if (stream !== 'cars') return undefined;
  const folder = join(job.work, 'fresh', pass_id);
  makeFolder(folder);
  const known = knownRecords(job.base);
  if (form !== 'delta') return { known, folder };
  const built = listPasses(job.layout.landing, stream).filter(({ record }) => group.includes(record.pass_id));
  return { known, landed: landedHashes(built), folder };
}

/** Says which records of a page did not come, and which ids lie around them. */
function warnOfUnserved(job: Job, pass: Pass, { page, unserved = [], unnamed, perPage }: LandedPage): void {
  const { path } = streams[pass.record.stream];
  const [low, high] = unnamed ?? [null, null];
  const around = `between ${low === null ? 'the beginning of the page' : `id ${low}`} and ${high === null ? 'its end' : `id ${high}`}`;
  for (const { position, error } of unserved)
    job.reporter.warn(
      `the service cannot serve record ${((page - 1) * (perPage ?? 0) + position + 1).toLocaleString('en')} of ${path} (page ${page}, ${around}); the rest of the page is landed, and nothing there counts as absent: ${error}`,
    );
}

/** Says which records of a page are too large to be loaded. */
function warnOfOversized(job: Job, pass: Pass, { page, oversized = [] }: LandedPage): void {
  const { path } = streams[pass.record.stream];
  for (const { position, id, bytes } of oversized)
    job.reporter.warn(
      `${id === null ? `record ${position + 1}` : `id ${id}`} of ${path} (page ${page}) has ${count(bytes)} bytes, more than largestRecord allows (${job.config.largestRecord} MiB): it is rejected whole, and its vehicle stays as the lake has it; with LOTLAKE_LARGEST_RECORD=${Math.ceil(bytes / 2 ** 20)} the next run loads it`,
    );
}

/** Sources that were requested one by one; null if they were requested together. */
function sourcesOf(walked: readonly Walked[]): number[] | null {
  const sources = walked.flatMap(({ list }) => list.source ?? []);
  return sources.length === 0 ? null : sources;
}

/** Walks one list. Yields each page once it is landed, and returns what the pages prove. */
async function* walkOne(
  job: Job,
  pass: Pass,
  list: List,
  parameters: RequestParameters,
  sink: Source<LandedPage>['sink'],
): AsyncGenerator<LandedPage, WalkResult, void> {
  const stream = streams[pass.record.stream];
  const endpoint = isScroll(job, stream) ? requests.carsScroll : stream.request;
  const shared = { client: job.client(), ...endpoint.from(parameters), sink, signal: job.signal };
  if (isScroll(job, stream)) return yield* walkScroll(shared);
  const isFeed = stream.name === 'cars' && pass.record.kind === 'full';
  const isKnownBetween = isFeed ? await knownVehicles(job, list.source) : undefined;
  return yield* walk({
    ...shared,
    concurrency: job.config.concurrency,
    ascending: stream.ascending,
    ...(isKnownBetween === undefined ? {} : { isKnownBetween }),
  });
}

/**
 * Whether the list of a window moved between the runs that walked it, so that a record may have slipped into a page that
 * was landed before. Full passes notice that when they read borders again.
 */
function hasMoved({ record, pages }: Pass, walked: readonly Walked[]): boolean {
  const totals = new Map(walked.map(({ list, total }) => [list.name, total]));
  const isSame = ({ list, total }: LandedPage): boolean => total !== null && total === totals.get(list);
  return record.kind === 'window' && !pages.every(isSame);
}

const MOVED = 'the list moved while the pass stood still; the next window covers it';

/** What the walks over all lists prove together. A window with any doubt is incomplete, and the next window covers it. */
function endOf(pass: Pass, walked: readonly Walked[]): Omit<Parameters<typeof endPass>[1], 'run_id'> {
  const isComplete = ({ complete, reason }: WalkResult): boolean =>
    complete && (pass.record.kind === 'full' || reason === null);
  const isOneByOne = sourcesOf(walked) !== null;
  const totals = walked.map(({ total }) => total);
  const proven = hasMoved(pass, walked)
    ? { complete: false, reason: MOVED, sources: [] }
    : {
        complete: walked.every(isComplete),
        reason: walked.find(({ reason }) => reason !== null)?.reason ?? null,
        sources: walked.filter(isComplete).flatMap(({ list }) => list.source ?? []),
      };
  return {
    ...proven,
    state: 'sealed',
    sources: isOneByOne ? proven.sources : null,
    total: totals.includes(null) ? null : totals.reduce<number>((sum, total) => sum + (total ?? 0), 0),
    unproven: walked.flatMap(({ unproven }) => unproven.map(([low, high]): [number, number] => [low, high])),
  };
}

/**
 * A function that says whether the lake has an active vehicle with an id between two others; undefined if nothing was
 * published yet.
 * @param source counts only vehicles with an active lot on this source
 */
async function knownVehicles(
  job: Job,
  source: number | undefined,
): Promise<((low: number, high: number) => boolean) | undefined> {
  const { base } = job;
  if (base === undefined) return undefined;
  const known =
    source === undefined
      ? `${tableRelation(base, 'vehicles')} where not archived`
      : `${tableRelation(base, 'lots')} where not archived and domain_id = ${source}`;
  const ids = await vehicleIds(job.session.connection, `select distinct vehicle_id from ${known}`);
  return (low, high) => (ids[indexAbove(ids, low)] ?? high) < high;
}
