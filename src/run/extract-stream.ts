import { killPoint } from '../config/kill-point.js';
import { messageOf } from '../config/lotlake-error.js';
import type { Client } from '../extract/client.js';
import type { PageSink, WalkResult } from '../extract/page-sink.js';
import { ScrollExpiredError, walkScroll } from '../extract/scroll.js';
import { walk } from '../extract/walk.js';
import type { Changes } from '../land/changes.js';
import type { LandedPage } from '../land/page.js';
import {
  endPass,
  noteHidden,
  noteLoadFailure,
  type Pass,
  type PassManifest,
  type PassRequest,
  readPass,
  syncPass,
} from '../land/pass.js';
import { counter, createSink } from '../land/sink.js';
import { isOfPage, LoadError } from '../load/load-error.js';
import { discardStaged, type LoadedPass } from '../load/loader.js';
import { BadRequestError, NotFoundError, SourceRefusedError } from '../service/errors.js';
import { pageSizes } from '../service/limits.js';
import { requests } from '../service/requests.js';
import { type Stream, type StreamName, streams } from '../service/streams.js';
import { abandon, findOrOpen } from './find-pass.js';
import { watchChanges } from './fingerprints.js';
import type { Job } from './job.js';
import { hiddenSources, knownVehicles } from './known.js';
import { loadPass } from './load-pass.js';

/** One list of a stream; a stream with one list needs none. */
export interface List {
  /** What tells the list from the others of its stream, such as the state whose cities it holds. */
  readonly name: string;
  /** What the list is asked for beside the parameters of the pass. */
  readonly parameters?: Asked;
  /** Source that the list is of: a key that lacks it loses this list and no other. */
  readonly source?: number;
}

/** Parameters by the service's names; flags are booleans. */
type Asked = Readonly<Record<string, unknown>>;

/** What one pass asks for. */
export interface StreamRequest {
  readonly kind: PassRequest['kind'];
  /** What every request asks for. */
  readonly parameters: Asked;
  /** The lists of the pass; by default the one at the path of the stream. */
  readonly lists?: readonly List[];
  /** Sources to ask for one by one; by default all that the key has, together. */
  readonly sources?: readonly number[] | undefined;
  /** Take the page size that the service gives by itself, because it refused the one that was asked for. */
  readonly ownPageSize?: boolean;
  /** How often a scroll of this request has been started again. */
  readonly restarts?: number;
}

/** How often a scroll that expired is started again in one run. */
const MOST_RESTARTS = 2;

/**
 * Walks the lists of a stream to their end, lands their pages, and loads them as they arrive. Resumes an open pass of the
 * same request. If the service does not have an optional stream, warns and gives undefined.
 */
export async function extractStream(
  job: Job,
  name: StreamName,
  stage: string,
  request: StreamRequest,
): Promise<LoadedPass | undefined> {
  const stream = streams[name];
  const isScroll = name === 'cars' && job.config.paging === 'scroll';
  const client = job.client();
  const wanted = parametersOf(job, stream, request, isScroll);
  const pass = await findOrOpen(job, name, request.kind, recorded(wanted, request));
  const parameters = withSizeOf(pass, wanted);
  killPoint('extract.pass-opened');
  const changes = name === 'cars' ? watchChanges(job, job.base, pass.manifest.pass_id) : undefined;
  try {
    const loaded = await loadPass(job, pass, stage, changes, async (add) => {
      const lists = request.lists ?? listsOf(request.sources);
      const manifest =
        pass.manifest.state === 'sealed'
          ? reseal(job, pass)
          : await walkPass(job, { client, stream, pass, parameters, add, lists, isScroll, changes });
      if (manifest.reason !== null)
        job.reporter.warn(
          `the pass over ${stream.path} ${manifest.complete ? 'does not prove all' : 'proves no absence'}: ${manifest.reason}`,
        );
      return manifest;
    });
    killPoint('load.pass-loaded');
    return loaded;
  } catch (error) {
    if (error instanceof LoadError) noteFailedLoad(job, pass, error);
    const restart = (why: string, changed: Partial<StreamRequest>): Promise<LoadedPass | undefined> => {
      abandon(job, pass, messageOf(error));
      discardStaged(stage, pass.manifest.pass_id);
      job.reporter.warn(why);
      return extractStream(job, name, stage, { ...request, ...changed });
    };
    const landed = (): number => readPass(pass.folder).pages.length;
    // Plans allow different page sizes, and the service does not say which plan a key has (service.md, limits).
    if (error instanceof BadRequestError && 'per_page' in parameters && landed() === pass.pages.length)
      return restart(
        `${stream.path} refuses ${parameters.per_page} records a page; going on with its own size: ${error.message}`,
        { ownPageSize: true },
      );
    const { restarts = 0 } = request;
    if (error instanceof ScrollExpiredError && restarts < MOST_RESTARTS)
      return restart(`starting the scroll again: ${error.message}`, { restarts: restarts + 1 });
    // The service refuses the lists of source 12 to a key without it.
    const isMissing = error instanceof NotFoundError || error instanceof SourceRefusedError;
    if (!stream.optional || !isMissing || landed() > 0) throw error;
    abandon(job, pass, messageOf(error));
    job.reporter.warn(`${stream.path} is skipped: ${messageOf(error)}`);
    return undefined;
  }
}

/** Notes a page that cannot be loaded. At its second failure the pass is abandoned, so that the next run starts a new one. */
function noteFailedLoad(job: Job, pass: Pass, error: LoadError): void {
  if (error.page === undefined || !isOfPage(error) || job.signal?.aborted === true) return;
  const failure = { page: error.page, run_id: job.runId, error: messageOf(error.cause) };
  if (!noteLoadFailure(pass.folder, failure)) return;
  const reason = `${error.page} could not be loaded in two runs: ${failure.error}`;
  abandon(job, pass, reason);
  job.reporter.warn(`${pass.folder} is set aside, and the next run starts a new pass: ${reason}`);
}

interface PassWalk {
  readonly client: Client;
  readonly stream: Stream;
  readonly pass: Pass;
  readonly parameters: Asked;
  readonly add: (page: LandedPage) => void;
  readonly lists: readonly List[];
  readonly isScroll: boolean;
  readonly changes: Changes | undefined;
}

/** Parameters of every request of a pass. A scroll takes neither a page size nor a form of pagination. */
function parametersOf(job: Job, stream: Stream, request: StreamRequest, isScroll: boolean): Asked {
  if (isScroll) {
    const { simple_paginate: _, ...parameters } = request.parameters;
    return { ...parameters, limit: Math.min(job.config.perPage, pageSizes.scroll.most) };
  }
  if (stream.maxPerPage === undefined || request.ownPageSize === true) return request.parameters;
  return { ...request.parameters, per_page: Math.min(job.config.perPage, stream.maxPerPage) };
}

/** A resumed pass keeps its page size, whatever is configured now. */
function withSizeOf({ manifest: { request } }: Pass, wanted: Asked): Asked {
  const { per_page: _, limit: __, ...rest } = wanted;
  const { per_page, limit } = request;
  return {
    ...rest,
    ...(per_page === undefined ? {} : { per_page }),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** What `pass.json` says of the parameters: flags as the service takes them, and the sources. */
function recorded(parameters: Asked, { sources }: StreamRequest): PassRequest['request'] {
  const sent = Object.entries(parameters).map(([name, value]): [string, string | number] => [
    name,
    typeof value === 'boolean' || typeof value === 'number' ? Number(value) : String(value),
  ]);
  return { ...Object.fromEntries(sent), ...(sources === undefined ? {} : { sources: sources.join(',') }) };
}

function listsOf(sources: StreamRequest['sources']): List[] {
  if (sources === undefined) return [{ name: '' }];
  return sources.map((source) => ({ name: String(source), parameters: { domain_id: source }, source }));
}

async function walkPass(job: Job, walking: PassWalk): Promise<PassManifest> {
  const { stream, pass, add, lists, changes } = walking;
  let pages = pass.pages.length;
  let records = pass.pages.reduce((sum, page) => sum + page.records, 0);
  let bytes = pass.pages.reduce((sum, page) => sum + page.bytes, 0);
  const walked: Walked[] = [];
  const next = counter(pass);
  if (lists.every((list) => list.source === undefined)) await watchSources(job, walking);
  for (const list of lists) {
    const sink = createSink(pass, stream, job.contracts[stream.name], list.name, next, changes);
    const onPage = (page: LandedPage, expected: number | null = null): void => {
      add(page);
      pages++;
      records += page.records;
      bytes += page.bytes;
      job.reporter.progress(stream.name, pages, lists.length === 1 ? expected : null, records, bytes);
    };
    try {
      walked.push({ list, result: await walkList(job, walking, list, sink, onPage) });
    } catch (error) {
      const isLast = list === lists.at(-1) && walked.length === 0;
      if (!(error instanceof SourceRefusedError) || list.source === undefined || isLast) throw error;
      job.reporter.warn(`source ${list.source} is left out, and stays as the lake has it: ${error.message}`);
    }
  }
  await watchSources(job, walking, sourcesOf(walked));
  killPoint('extract.list-walked');
  await syncPass(pass.folder);
  const end = endOf(walked, pass.manifest.kind);
  const manifest = endPass(
    pass,
    { ...end, ...(hasMoved(pass, walked) ? movedEnd(end.sources) : {}), run_id: job.runId },
    job.now(),
  );
  killPoint('land.pass-sealed');
  return manifest;
}

/**
 * Notes which sources the key lacks, at the end of every full pass and at each start of one over all sources. A key that
 * loses a source during a pass gets vehicles without the lots of that source, as if they had left. If sources are asked
 * for one by one, a list that is refused from the start is left out.
 * @param among sources that were walked one by one; undefined where they were asked for together
 */
async function watchSources(
  job: Job,
  { client, stream, pass, isScroll }: PassWalk,
  among?: readonly number[],
): Promise<void> {
  if (stream.name !== 'cars' || pass.manifest.kind !== 'full') return;
  const more = noteHidden(pass.folder, await hiddenSources(job, client, isScroll, among));
  if (more.length === 0) return;
  job.reporter.warn(
    `the service refuses source ${more.join(', ')} to the key: its lots stay as the lake has them`,
  );
}

/** Sources whose lists were walked; undefined where they were asked for together. */
function sourcesOf(walked: readonly Walked[]): number[] | undefined {
  const sources = walked.map(({ list }) => list.source).filter((source) => source !== undefined);
  return sources.length === 0 ? undefined : sources;
}

interface Walked {
  readonly list: List;
  readonly result: WalkResult;
}

async function walkList(
  job: Job,
  { client, stream, pass, parameters, isScroll }: PassWalk,
  list: List,
  sink: PageSink<LandedPage>,
  onPage: (page: LandedPage, expected?: number | null) => void,
): Promise<WalkResult> {
  const endpoint = isScroll ? requests.carsScroll : stream.request;
  const request = endpoint.from({ ...parameters, ...list.parameters });
  const signal = job.signal === undefined ? {} : { signal: job.signal };
  const shared = { client, ...request, sink, onPage, ...signal };
  if (isScroll) return walkScroll(shared);
  const isFeed = stream.name === 'cars' && pass.manifest.kind === 'full';
  const isKnownBetween = isFeed ? await knownVehicles(job, list.source) : undefined;
  return walk({
    ...shared,
    concurrency: job.config.concurrency,
    ascending: stream.ascending,
    ...(isKnownBetween === undefined ? {} : { isKnownBetween }),
  });
}

/**
 * Whether the list of a window moved between the runs that walked it. Then a record may have slipped into a page that was
 * landed before. Full passes find that out by reading borders again.
 */
function hasMoved({ manifest, pages }: Pass, walked: readonly Walked[]): boolean {
  const totals = new Map(walked.map(({ list, result }) => [list.name, result.total]));
  const isSame = ({ list, total }: LandedPage): boolean => total !== null && total === totals.get(list);
  return manifest.kind === 'window' && !pages.every(isSame);
}

/** End of a window that moved: it is incomplete, so the next window starts where the last complete one did. */
const movedEnd = (sources: PassManifest['sources'] | undefined) => ({
  complete: false,
  reason: 'the list moved while the pass stood still; the next window covers it',
  sources: sources === null ? null : [],
});

/** What the walks over all lists prove together. A window with any doubt is incomplete: the next one covers it. */
function endOf(
  walked: readonly Walked[],
  kind: PassManifest['kind'],
): Omit<Parameters<typeof endPass>[1], 'run_id'> {
  const results = walked.map(({ result }) => result);
  const reason = results.find((result) => result.reason !== null)?.reason ?? null;
  const isComplete = ({ complete, reason }: WalkResult): boolean =>
    complete && (kind === 'full' || reason === null);
  const complete = walked.filter(({ result }) => isComplete(result)).map(({ list }) => list.source);
  const sources = complete.filter((source) => source !== undefined);
  const totals = results.map(({ total }) => total);
  return {
    state: 'sealed',
    complete: results.every(isComplete),
    reason,
    total: totals.includes(null) ? null : totals.reduce<number>((sum, total) => sum + (total ?? 0), 0),
    unproven: results.flatMap((result) =>
      result.unproven.map(([low, high]): [number, number] => [low, high]),
    ),
    sources: walked.some(({ list }) => list.source !== undefined) ? sources : null,
  };
}

/** A pass that was sealed by a run which never published is used by this one. */
function reseal(job: Job, pass: Pass): PassManifest {
  const { reason, complete, total, ended_at } = pass.manifest;
  const ended = ended_at === null ? job.now() : new Date(ended_at);
  return endPass(pass, { state: 'sealed', reason, complete, total, run_id: job.runId }, ended);
}
