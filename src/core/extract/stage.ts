import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import type { Job } from '../job/job.js';
import type { LoadedPass } from '../lake/passes/loaded-pass.js';
import { noteLoadFailure, type Pass, type PassRequest, readPass } from '../lake/passes/pass.js';
import { discardStaged, isCausedByPages, LoadError, load } from '../load/step.js';
import { isFailure } from '../service/errors.js';
import { pageSizes } from '../service/limits.js';
import { inQuery } from '../service/requests.js';
import { type Stream, type StreamName, streams } from '../service/streams.js';
import { abandon, findOrOpen } from './open-pass.js';
import { isScroll } from './probe.js';
import { extract, type List, type RequestParameters } from './walk-lists.js';

/** What one pass requests. */
export interface StreamRequest {
  readonly kind: PassRequest['kind'];
  readonly parameters: RequestParameters;
  /** The lists of the pass; by default the one at the path of the stream. */
  readonly lists?: readonly List[] | undefined;
  /** Sources to request one by one; by default all sources of the key together. */
  readonly sources?: readonly number[] | undefined;
  /** How the step is shown; by default the name of the stream. */
  readonly detail?: string;
  /** Whether to take the default page size of the service, because it refused the requested one. */
  readonly ownPageSize?: boolean;
  readonly restarts?: number;
}

/** How often a run restarts an expired scroll. */
const MOST_RESTARTS = 2;

/**
 * Extracts a stream, and loads its records as they arrive. Resumes an open pass of the same request. Returns the loaded pass;
 * if the service does not have an optional stream, warns and returns none.
 */
export async function stage(
  job: Job,
  name: StreamName,
  request: StreamRequest,
): Promise<readonly LoadedPass[]> {
  // Throws before a pass is opened, if this run must not use the service. It is a step of its own, before that of the stream.
  job.client();
  job.reporter.step('extract', request.detail ?? name);
  return stagePass(job, name, request);
}

async function stagePass(job: Job, name: StreamName, request: StreamRequest): Promise<readonly LoadedPass[]> {
  const stream = streams[name];
  const wanted = parametersOf(job, stream, request);
  const pass = await findOrOpen(job, name, request.kind, requestRecord(wanted, request));
  killPoint('extract.pass-opened');
  const parameters = withPageSizeOf(pass, wanted);
  try {
    const pages = extract(job, pass, { parameters, lists: request.lists ?? listsOf(request.sources) });
    const loaded = await load(job, pass, pages);
    killPoint('load.pass-loaded');
    return [loaded];
  } catch (error) {
    if (error instanceof LoadError) noteFailedLoad(job, pass, error);
    const restart = (warning: string, changed: Partial<StreamRequest>) => {
      abandon(job, pass, messageOf(error));
      discardStaged(job.stage, pass.record.pass_id);
      job.reporter.warn(warning);
      return stagePass(job, name, { ...request, ...changed });
    };
    const landed = (): number => readPass(pass.folder).pages.length;
    // Plans allow different page sizes, and the service does not say which plan a key has (service.md#access).
    if (isFailure(error, 'SERVICE_BAD_REQUEST') && 'per_page' in parameters && landed() === pass.pages.length)
      return restart(
        `${stream.path} refuses ${parameters.per_page} records a page; going on with its own size: ${error.message}`,
        { ownPageSize: true },
      );
    const { restarts = 0 } = request;
    const isExpired = error instanceof LotlakeError && error.code === 'EXTRACT_SCROLL_EXPIRED';
    if (isExpired && restarts < MOST_RESTARTS)
      return restart(`starting the scroll again: ${error.message}`, { restarts: restarts + 1 });
    // The service refuses the lists of source 12 to a key without it.
    const isMissing = isFailure(error, 'SERVICE_NOT_FOUND', 'SERVICE_SOURCE_REFUSED');
    if (!stream.optional || !isMissing || landed() > 0) throw error;
    abandon(job, pass, messageOf(error));
    job.reporter.warn(`${stream.path} is skipped: ${messageOf(error)}`);
    return [];
  }
}

/**
 * Records that a page cannot be loaded. After its second failure the pass is abandoned, and the next run starts a new
 * one.
 */
function noteFailedLoad(job: Job, pass: Pass, error: LoadError): void {
  if (error.page === undefined || !isCausedByPages(error) || job.signal.aborted) return;
  const failure = { page: error.page, run_id: job.runId, error: messageOf(error.cause) };
  if (!noteLoadFailure(pass.folder, failure)) return;
  const reason = `${error.page} could not be loaded in two runs: ${failure.error}`;
  abandon(job, pass, reason);
  job.reporter.warn(`${pass.folder} is set aside, and the next run starts a new pass: ${reason}`);
}

/** Parameters of every request of a pass. A scroll has `limit` instead of the parameters of pagination. */
function parametersOf(job: Job, stream: Stream, request: StreamRequest): RequestParameters {
  if (isScroll(job, stream)) {
    const { simple_paginate: _, ...parameters } = request.parameters;
    return { ...parameters, limit: Math.min(job.config.perPage, pageSizes.scroll.most) };
  }
  if (stream.maxPerPage === undefined || request.ownPageSize === true) return request.parameters;
  return { ...request.parameters, per_page: Math.min(job.config.perPage, stream.maxPerPage) };
}

/** A resumed pass keeps its page size, whatever is configured now. */
function withPageSizeOf({ record: { request } }: Pass, wanted: RequestParameters): RequestParameters {
  const { per_page: _, limit: __, ...rest } = wanted;
  const size = Object.entries(request).filter(([name]) => name === 'per_page' || name === 'limit');
  return { ...rest, ...Object.fromEntries(size) };
}

/** The parameters as `pass.json` records them: flags as they are sent, and the sources. */
function requestRecord(parameters: RequestParameters, { sources }: StreamRequest): PassRequest['request'] {
  const sent = Object.entries(parameters).map(([name, value]) => [name, inQuery(value)] as const);
  return { ...Object.fromEntries(sent), ...(sources === undefined ? {} : { sources: sources.join(',') }) };
}

function listsOf(sources: StreamRequest['sources']): List[] {
  if (sources === undefined) return [{ name: '' }];
  return sources.map((source) => ({ name: String(source), parameters: { domain_id: source }, source }));
}
