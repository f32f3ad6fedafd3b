import { createHash } from 'node:crypto';
import type { Query } from '../src/extract/client.js';
import { walk } from '../src/extract/walk.js';
import {
  endPass,
  listPasses,
  openPass,
  type Pass,
  type PassManifest,
  type PassRequest,
} from '../src/land/pass.js';
import { createSink } from '../src/land/sink.js';
import { createLoader, type LoadResult } from '../src/load/loader.js';
import { walkContract } from '../src/service/contract/node.js';
import { NotFoundError } from '../src/service/errors/not-found-error.js';
import { type StreamName, streams } from '../src/service/streams.js';
import type { Job } from './job.js';

/** A pass whose records are staged. */
export interface LoadedPass extends LoadResult {
  readonly manifest: PassManifest;
}

/** An open pass older than this is not gone on with: too much has moved since. */
const RESUME_HOURS = 12;

/**
 * Walks one list of the service to its end, lands its pages and loads them while they come. Goes on with an open pass
 * of the same request. An optional list that the service does not have is reported and gives undefined.
 */
export async function extractStream(
  job: Job,
  name: StreamName,
  stage: string,
  request: { readonly kind: PassRequest['kind']; readonly query: Record<string, string | number> },
): Promise<LoadedPass | undefined> {
  const stream = streams[name];
  const contract = job.contracts[name];
  const query = { ...request.query, per_page: Math.min(job.config.perPage, stream.maxPerPage) };
  const pass = findOrOpen(job, name, request.kind, query);
  const loader = createLoader({
    session: job.session,
    stream,
    contract,
    passId: pass.manifest.pass_id,
    passFolder: pass.folder,
    stage,
  });
  for (const page of pass.pages) loader.add(page);
  let pages = pass.pages.length;
  let records = pass.pages.reduce((sum, page) => sum + page.records, 0);
  let bytes = pass.pages.reduce((sum, page) => sum + page.bytes, 0);
  try {
    const result = await walk({
      client: job.client(),
      path: stream.path,
      query: query satisfies Query,
      concurrency: job.config.concurrency,
      sink: createSink(pass, stream, contract),
      ...(job.signal === undefined ? {} : { signal: job.signal }),
      onPage: (page, expected) => {
        loader.add(page);
        pages++;
        records += page.records;
        bytes += page.bytes;
        job.reporter.progress(name, pages, expected, records, bytes);
      },
    });
    const manifest = endPass(pass, { ...result, state: 'sealed', run_id: job.runId }, job.now());
    if (!result.complete)
      job.reporter.warn(`the pass over ${stream.path} proves no absence: ${result.reason}`);
    const loaded = await loader.finish();
    job.drift.push(...loaded.drift);
    return { manifest, ...loaded };
  } catch (error) {
    await loader.finish().catch(() => undefined);
    if (!stream.optional || !(error instanceof NotFoundError)) throw error;
    endPass(
      pass,
      { state: 'abandoned', reason: error.message, complete: false, total: null, run_id: job.runId },
      job.now(),
    );
    job.reporter.warn(`${stream.path} is skipped: ${error.message}`);
    return undefined;
  }
}

/** Fingerprint of a contract: pages that were checked against another are checked again. */
export function contractFingerprint(job: Job, stream: StreamName): string {
  const nodes = [...walkContract(job.contracts[stream])].map(
    (node) => `${node.path} ${node.accepts} ${node.duckdb} ${node.lexical} ${node.required}`,
  );
  return createHash('sha256').update(nodes.join('\n')).digest('hex').slice(0, 16);
}

function findOrOpen(
  job: Job,
  stream: StreamName,
  kind: PassRequest['kind'],
  query: PassRequest['request'],
): Pass {
  const contract = contractFingerprint(job, stream);
  let found: Pass | undefined;
  for (const pass of listPasses(job.layout.landing, stream).filter((p) => p.manifest.state === 'open')) {
    const age = job.now().getTime() - Date.parse(pass.manifest.started_at);
    const isSame =
      pass.manifest.kind === kind &&
      pass.manifest.contract === contract &&
      sameRequest(pass.manifest.request, query);
    if (isSame && age < RESUME_HOURS * 3_600_000 && found === undefined) found = pass;
    else {
      const reason = isSame ? 'too old to go on with' : 'another request or contract';
      endPass(
        pass,
        { state: 'abandoned', reason, complete: false, total: null, run_id: job.runId },
        job.now(),
      );
      job.reporter.warn(
        `pass ${pass.manifest.pass_id} of ${stream} was left open and is abandoned: ${reason}`,
      );
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

/** A window that was left open reaches further back than one asked for now, so that its length does not matter. */
function sameRequest(a: PassRequest['request'], b: PassRequest['request']): boolean {
  const { minutes: _a, ...left } = a;
  const { minutes: _b, ...right } = b;
  return JSON.stringify(left) === JSON.stringify(right);
}
