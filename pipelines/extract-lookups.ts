import type { Answer } from '../src/extract/client.js';
import { instant } from '../src/extract/instant.js';
import { asPage } from '../src/extract/one-record.js';
import { endPass, openPass, syncPass } from '../src/land/pass.js';
import { counter, createSink } from '../src/land/sink.js';
import { createLoader } from '../src/load/loader.js';
import { NotFoundError } from '../src/service/errors/not-found-error.js';
import { SourceRefusedError } from '../src/service/errors/source-refused-error.js';
import type { ServiceRequest } from '../src/service/requests/service-request.js';
import { streams } from '../src/service/streams.js';
import type { LoadedPass } from './extract-stream.js';
import { contractFingerprint } from './find-pass.js';
import type { Job } from './job.js';

/** One vehicle to ask for. */
export interface Lookup {
  /** Tells the lookup from the others of its run. */
  readonly name: string;
  readonly request: ServiceRequest;
}

/** What came of the lookups of a run. */
export interface LookupResult {
  readonly pass: LoadedPass;
  /** Names of the lookups that the service answered with 404. */
  readonly missing: ReadonlySet<string>;
  /** Names of the lookups that the key may not make, since it lacks the source. */
  readonly refused: ReadonlySet<string>;
}

/**
 * Asks for single vehicles, lands the answers as a pass of kind `lookup` and loads them. Such a pass says nothing about
 * what it lacks.
 */
export async function extractLookups(
  job: Job,
  stage: string,
  lookups: readonly Lookup[],
): Promise<LookupResult> {
  const stream = streams.cars;
  const contract = job.contracts.cars;
  const client = job.client();
  const pass = openPass(
    job.layout.landing,
    {
      stream: 'cars',
      run_id: job.runId,
      origin: job.config.origin ?? null,
      kind: 'lookup',
      request: { lookups: lookups.length },
      contract: contractFingerprint(job, 'cars'),
    },
    job.now(),
  );
  const loader = createLoader({
    session: job.session,
    warn: job.reporter.warn,
    schemas: job.schemas,
    stream,
    contract,
    passId: pass.manifest.pass_id,
    passFolder: pass.folder,
    stage,
  });
  const missing = new Set<string>();
  const refused = new Set<string>();
  const next = counter(pass);
  let records = 0;
  for (const lookup of lookups) {
    const sink = createSink(pass, stream, contract, lookup.name, next);
    try {
      const land = async (answer: Answer) => sink.land(1, await asPage(answer), instant());
      const page = await client.get(lookup.request.path, lookup.request.query, land, job.signal);
      loader.add(page);
      records += page.records;
    } catch (error) {
      if (error instanceof NotFoundError) missing.add(lookup.name);
      else if (error instanceof SourceRefusedError) refused.add(lookup.name);
      else {
        await loader.stop();
        throw error;
      }
    }
    job.reporter.progress('lookups', records + missing.size + refused.size, lookups.length, records, 0);
  }
  const end = {
    state: 'sealed',
    complete: false,
    reason: 'lookups',
    total: null,
    run_id: job.runId,
  } as const;
  await syncPass(pass.folder);
  const manifest = endPass(pass, end, job.now());
  const loaded = await loader.finish();
  job.drift.push(...loaded.drift);
  return { pass: { manifest, ...loaded }, missing, refused };
}
