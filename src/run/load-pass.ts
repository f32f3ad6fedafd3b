import { isDeepStrictEqual } from 'node:util';
import { driftIn } from '../lake/drift.js';
import { globRelation } from '../lake/files.js';
import type { Changes } from '../land/changes.js';
import { type LandedPage, rescanPage } from '../land/page.js';
import { listPasses, type Pass, type PassManifest } from '../land/pass.js';
import type { DriftReport } from '../load/drift.js';
import { type LoadedPass, Loader } from '../load/loader.js';
import { streams } from '../service/streams.js';
import { contractFingerprint } from './find-pass.js';
import type { Job } from './job.js';

/**
 * Stages the records of a pass: of its landed pages first, then of the pages that `walk` lands. Adds the pass to the job.
 * @param changes selects the records to load; without it whole pages are loaded
 * @param walk lands and adds further pages, and returns the manifest of the pass
 * @param onPage called for each page that was landed before
 */
export async function loadPass(
  job: Job,
  pass: Pass,
  changes: Changes | undefined,
  walk: (add: (page: LandedPage) => void) => Promise<PassManifest>,
  onPage: (page: LandedPage) => void = () => undefined,
): Promise<void> {
  const { warn } = job.reporter;
  const loader = new Loader({ ...job, pass, changes, warn });
  try {
    for await (const page of comparedPages(job, pass)) {
      changes?.acceptLanded(pass.folder, page);
      loader.add(page);
      onPage(page);
    }
    const manifest = await walk((page) => loader.add(page));
    await addPass(job, { folder: pass.folder, manifest, ...(await loader.finish()), changes });
  } catch (error) {
    await loader.stop();
    throw error;
  }
}

/** Adds a loaded pass to the job, with its counts and its drift. */
async function addPass(job: Job, loaded: LoadedPass): Promise<void> {
  job.passes.push(loaded);
  const { record } = job.recorder;
  record.records += loaded.manifest.records;
  record.loaded += loaded.loaded;
  record.rejected += loaded.rejected;
  record.rejected_values += loaded.rejectedValues;
  if (loaded.drift.length === 0) return;
  const { base, session } = job;
  const passes = base === undefined ? undefined : globRelation(base.folder, 'passes', false);
  const known = passes === undefined ? [] : await driftIn(session.connection, passes);
  const sinceOf = ({ stream, path }: DriftReport): string | null =>
    known.find((each) => each.stream === stream && each.path === path)?.run_id ?? null;
  const drift = loaded.drift.map((found) => ({ ...found, since: sinceOf(found) }));
  job.drift.push(...drift);
  record.drift.push(...drift.map(({ stream, path, since }) => ({ stream, path, since })));
}

/** The landed pages of a pass. Pages that were compared with another contract are compared with the present one. */
async function* comparedPages(job: Job, pass: Pass): AsyncGenerator<LandedPage> {
  const { stream: name, contract } = pass.manifest;
  const isSame = contract === contractFingerprint(name);
  for (const landed of pass.pages) {
    job.signal.throwIfAborted();
    yield isSame ? landed : await rescanPage(landed, pass.folder, streams[name]);
  }
}

/**
 * Reports the progress of a pass page by page, with the sums of all pages so far. If the service does not say how many pages
 * to expect, the number comes from the last complete pass of the same request.
 */
export function progressOf(
  { reporter, layout }: Pick<Job, 'reporter' | 'layout'>,
  { manifest: { stream, kind, request }, pages: before }: Pass,
): (page: LandedPage, expected: number | null) => void {
  let pages = before.length;
  let records = before.reduce((sum, page) => sum + page.records, 0);
  let bytes = before.reduce((sum, page) => sum + page.bytes, 0);
  let last: number | null | undefined;
  const lastPages = (): number | null => {
    const isLike = ({ manifest }: Pass): boolean =>
      manifest.complete && manifest.kind === kind && isDeepStrictEqual(manifest.request, request);
    if (last === undefined)
      last = listPasses(layout.landing, stream).findLast(isLike)?.manifest.pages ?? null;
    return last;
  };
  reporter.progress(stream, pages, null, records, bytes);
  return (page, expected) => {
    records += page.records;
    bytes += page.bytes;
    reporter.progress(stream, ++pages, expected ?? lastPages(), records, bytes, expected === null);
  };
}
