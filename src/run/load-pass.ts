import type { Changes } from '../land/changes.js';
import { type LandedPage, rescanPage } from '../land/page.js';
import type { Pass, PassManifest } from '../land/pass.js';
import { type LoadedPass, Loader, type StagedBefore } from '../load/loader.js';
import { type StreamName, streams } from '../service/streams.js';
import { contractFingerprint } from './find-pass.js';
import type { Job } from './job.js';

/**
 * Stages the records of a pass: the pages that it has, then those that `walk` lands while they come.
 * @param changes selects the records to load; whole pages are loaded where it is undefined
 * @param walk lands and adds further pages, if any, and returns the manifest of the pass
 * @param onPage is told of each page that was there before
 * @param stagedBefore pages whose records another engine has staged
 */
export async function loadPass(
  job: Job,
  pass: Pass,
  changes: Changes | undefined,
  walk: (add: (page: LandedPage) => void) => Promise<PassManifest>,
  onPage: (page: LandedPage) => void = () => undefined,
  stagedBefore?: StagedBefore,
): Promise<LoadedPass> {
  const { stream: name, pass_id: passId } = pass.manifest;
  const { session, signal, schemas, contracts, stage } = job;
  const loader = new Loader({
    ...{ session, signal, schemas, passId, stage, changes, stagedBefore },
    warn: job.reporter.warn,
    stream: streams[name],
    contract: contracts[name],
    passFolder: pass.folder,
  });
  try {
    for await (const page of comparedPages(job, pass)) {
      changes?.acceptLanded(pass.folder, page);
      loader.add(page);
      onPage(page);
    }
    const manifest = await walk((page) => loader.add(page));
    const loaded = await loader.finish();
    job.drift.push(...loaded.drift);
    return { manifest, ...loaded, changes };
  } catch (error) {
    await loader.stop();
    throw error;
  }
}

/** The landed pages of a pass, compared with the contract of today. */
export async function* comparedPages(job: Job, pass: Pass): AsyncGenerator<LandedPage> {
  const { stream: name, contract } = pass.manifest;
  const isSame = contract === contractFingerprint(job, name);
  for (const landed of pass.pages) {
    job.signal.throwIfAborted();
    yield isSame ? landed : await rescanPage(landed, pass.folder, job.contracts[name], streams[name].idField);
  }
}

/** Tells the progress of a pass page by page, with the sums of all pages so far. */
export function progressOf(
  { reporter }: Job,
  stream: StreamName,
  before: readonly LandedPage[] = [],
): (page: LandedPage, expected: number | null) => void {
  let pages = before.length;
  let records = before.reduce((sum, page) => sum + page.records, 0);
  let bytes = before.reduce((sum, page) => sum + page.bytes, 0);
  return (page, expected) => {
    records += page.records;
    bytes += page.bytes;
    reporter.progress(stream, ++pages, expected, records, bytes);
  };
}
