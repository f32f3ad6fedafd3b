import { createHash } from 'node:crypto';
import { messageOf } from '../src/config/lotlake-error.js';
import type { Client, Query } from '../src/extract/client.js';
import { SCROLL_LIMIT, walkScroll } from '../src/extract/scroll.js';
import { ScrollExpiredError } from '../src/extract/scroll-expired-error.js';
import { walk } from '../src/extract/walk.js';
import { currentSnapshot } from '../src/lake/layout.js';
import type { LandedPage } from '../src/land/page.js';
import {
  endPass,
  isWhole,
  listPasses,
  openPass,
  type Pass,
  type PassManifest,
  type PassRequest,
  readPass,
} from '../src/land/pass.js';
import { counter, createSink } from '../src/land/sink.js';
import { createLoader, type Loader, type LoadResult } from '../src/load/loader.js';
import { walkContract } from '../src/service/contract/node.js';
import { BadRequestError } from '../src/service/errors/bad-request-error.js';
import { NotFoundError } from '../src/service/errors/not-found-error.js';
import { type Stream, type StreamName, streams } from '../src/service/streams.js';
import { stateOf } from './finish.js';
import type { Job } from './job.js';

/** A pass whose records are staged. */
export interface LoadedPass extends LoadResult {
  readonly manifest: PassManifest;
}

/** An open pass older than this is not gone on with: too much has moved since. */
const RESUME_HOURS = 12;

/** One list of a stream; a stream with one list needs none. */
export interface List {
  /** What tells the list from the others of its stream, such as the state whose cities it holds. */
  readonly name: string;
  /** Path below the base URL. */
  readonly path: string;
  readonly query?: Query;
}

/** What one pass asks for. */
export interface StreamRequest {
  readonly kind: PassRequest['kind'];
  /** Parameters of every request. */
  readonly query: Record<string, string | number>;
  /** The lists of the pass; by default the one at the path of the stream. */
  readonly lists?: readonly List[];
  /** Take the page size that the service gives by itself, because it refused the one that was asked for. */
  readonly ownPageSize?: boolean;
  /** How often a scroll of this request has been started again. */
  readonly restarts?: number;
}

/** How often a scroll that expired is started again in one run. */
const MOST_RESTARTS = 2;

/**
 * Walks the lists of a stream to their end, lands their pages and loads them while they come. Goes on with an open pass
 * of the same request. An optional stream that the service does not have is reported and gives undefined.
 */
export async function extractStream(
  job: Job,
  name: StreamName,
  stage: string,
  request: StreamRequest,
): Promise<LoadedPass | undefined> {
  const stream = streams[name];
  const isScroll = name === 'cars' && job.config.paging === 'scroll';
  const query = queryOf(job, stream, request, isScroll);
  const client = job.client();
  const pass = findOrOpen(job, name, request.kind, query);
  const loader = createLoader({
    session: job.session,
    stream,
    contract: job.contracts[name],
    passId: pass.manifest.pass_id,
    passFolder: pass.folder,
    stage,
  });
  for (const page of pass.pages) loader.add(page);
  try {
    const lists = request.lists ?? [{ name: '', path: stream.path }];
    const manifest =
      pass.manifest.state === 'sealed'
        ? reseal(job, pass)
        : await walkPass(job, { client, stream, pass, query, loader, lists, isScroll });
    if (!manifest.complete)
      job.reporter.warn(`the pass over ${stream.path} proves no absence: ${manifest.reason}`);
    const loaded = await loader.finish();
    job.drift.push(...loaded.drift);
    return { manifest, ...loaded };
  } catch (error) {
    await loader.finish().catch(() => undefined);
    if (error instanceof BadRequestError && 'per_page' in query && readPass(pass.folder).pages.length === 0) {
      // Plans differ in the page size that they allow, and which plan a key has is not told (service.md, limits).
      abandon(job, pass, error.message);
      job.reporter.warn(
        `${stream.path} refuses ${query.per_page} records a page; going on with its own size: ${error.message}`,
      );
      return extractStream(job, name, stage, { ...request, ownPageSize: true });
    }
    if (error instanceof ScrollExpiredError && (request.restarts ?? 0) < MOST_RESTARTS) {
      abandon(job, pass, error.message);
      job.reporter.warn(`starting the scroll again: ${error.message}`);
      return extractStream(job, name, stage, { ...request, restarts: (request.restarts ?? 0) + 1 });
    }
    const isMissing = error instanceof NotFoundError && readPass(pass.folder).pages.length === 0;
    if (!stream.optional || !isMissing) throw error;
    abandon(job, pass, messageOf(error));
    job.reporter.warn(`${stream.path} is skipped: ${messageOf(error)}`);
    return undefined;
  }
}

interface PassWalk {
  readonly client: Client;
  readonly stream: Stream;
  readonly pass: Pass;
  readonly query: Query;
  readonly loader: Loader;
  readonly lists: readonly List[];
  readonly isScroll: boolean;
}

/** Parameters of every request of a pass. A scroll takes neither a page size nor a form of pagination. */
function queryOf(
  job: Job,
  stream: Stream,
  request: StreamRequest,
  isScroll: boolean,
): Record<string, string | number> {
  if (isScroll) {
    const { simple_paginate: _, ...query } = request.query;
    return { ...query, limit: Math.min(job.config.perPage, SCROLL_LIMIT.most) };
  }
  if (stream.maxPerPage === undefined || request.ownPageSize === true) return { ...request.query };
  return { ...request.query, per_page: Math.min(job.config.perPage, stream.maxPerPage) };
}

async function walkPass(job: Job, walking: PassWalk): Promise<PassManifest> {
  const { client, stream, pass, query, loader, lists } = walking;
  let pages = pass.pages.length;
  let records = pass.pages.reduce((sum, page) => sum + page.records, 0);
  let bytes = pass.pages.reduce((sum, page) => sum + page.bytes, 0);
  let reason: string | null = null;
  let total: number | null = 0;
  const unproven: [number, number][] = [];
  const next = counter(pass);
  for (const list of lists) {
    const sink = createSink(pass, stream, job.contracts[stream.name], list.name, next);
    const onPage = (page: LandedPage, expected: number | null = null): void => {
      loader.add(page);
      pages++;
      records += page.records;
      bytes += page.bytes;
      job.reporter.progress(stream.name, pages, lists.length === 1 ? expected : null, records, bytes);
    };
    const shared = { client, path: list.path, query: { ...query, ...list.query }, sink, onPage };
    const signal = job.signal === undefined ? {} : { signal: job.signal };
    const result = walking.isScroll
      ? await walkScroll({ ...shared, ...signal })
      : await walk({
          ...shared,
          ...signal,
          concurrency: job.config.concurrency,
          ascending: stream.ascending,
        });
    reason ??= result.reason;
    unproven.push(...result.unproven.map(([low, high]): [number, number] => [low, high]));
    total = result.total === null || total === null ? null : total + result.total;
  }
  const end = {
    state: 'sealed',
    complete: reason === null,
    reason,
    total,
    unproven,
    run_id: job.runId,
  } as const;
  return endPass(pass, end, job.now());
}

/** A pass that was sealed by a run which never published is used by this one. */
function reseal(job: Job, pass: Pass): PassManifest {
  const { reason, complete, total, ended_at } = pass.manifest;
  const ended = ended_at === null ? job.now() : new Date(ended_at);
  return endPass(pass, { state: 'sealed', reason, complete, total, run_id: job.runId }, ended);
}

/** Fingerprint of a contract: pages that were checked against another are checked again. */
export function contractFingerprint(job: Job, stream: StreamName): string {
  const nodes = [...walkContract(job.contracts[stream])].map(
    (node) => `${node.path} ${node.accepts} ${node.duckdb} ${node.lexical} ${node.required}`,
  );
  return createHash('sha256').update(nodes.join('\n')).digest('hex').slice(0, 16);
}

/**
 * Goes on with the pass that an earlier run left: open, or sealed but in no published snapshot. Others that were left
 * are abandoned, so that every sealed pass in landing is one that the lake was made from.
 */
function findOrOpen(
  job: Job,
  stream: StreamName,
  kind: PassRequest['kind'],
  query: PassRequest['request'],
): Pass {
  const contract = contractFingerprint(job, stream);
  const merged = stateOf(currentSnapshot(job.layout))?.manifest.last_pass_at[stream] ?? '';
  const isLeft = ({ manifest }: Pass): boolean =>
    manifest.state === 'open' ||
    (manifest.state === 'sealed' && !manifest.published && manifest.started_at > merged);
  let found: Pass | undefined;
  for (const pass of listPasses(job.layout.landing, stream).filter(isLeft).reverse()) {
    const age = job.now().getTime() - Date.parse(pass.manifest.started_at);
    const isSame =
      (pass.manifest.state === 'open' || isWhole(pass)) &&
      pass.manifest.kind === kind &&
      pass.manifest.contract === contract &&
      sameRequest(pass.manifest.request, query);
    if (isSame && age < RESUME_HOURS * 3_600_000 && found === undefined) found = pass;
    else {
      const reason = isSame
        ? 'left behind, and older than a later one or than 12 hours'
        : 'left behind by another request or contract';
      abandon(job, pass, reason);
      job.reporter.warn(`pass ${pass.manifest.pass_id} of ${stream} is abandoned: ${reason}`);
    }
  }
  if (found === undefined)
    return openPass(
      job.layout.landing,
      { stream, run_id: job.runId, kind, request: query, contract },
      job.now(),
    );
  job.reporter.step('resume', `pass ${found.manifest.pass_id} of ${stream} with ${found.pages.length} pages`);
  return found;
}

function abandon(job: Job, pass: Pass, reason: string): void {
  endPass(pass, { state: 'abandoned', reason, complete: false, total: null, run_id: job.runId }, job.now());
}

/** A window that was left open reaches further back than one asked for now, so that its length does not matter. */
function sameRequest(a: PassRequest['request'], b: PassRequest['request']): boolean {
  const { minutes: _a, ...left } = a;
  const { minutes: _b, ...right } = b;
  return JSON.stringify(left) === JSON.stringify(right);
}
