import { isDeepStrictEqual } from 'node:util';
import type { Job } from '../job/job.js';
import { printsOfPage } from '../lake/passes/fingerprints.js';
import type { LandedPage } from '../lake/passes/landed-page.js';
import { listPasses, type Pass } from '../lake/passes/pass.js';
import { contractFingerprint } from '../service/contract/fingerprint.js';
import { streams } from '../service/streams.js';
import { rescanPage } from './page.js';

/**
 * Yields the landed pages of a pass. All that their files hold is loaded, and what they leave out is unchanged. Pages that
 * were compared with another contract are compared with the present one.
 */
export async function* landedPages(job: Job, pass: Pass): AsyncGenerator<LandedPage> {
  const { stream, contract } = pass.record;
  const isSame = contract === contractFingerprint(stream);
  for (const landed of pass.pages) {
    job.signal.throwIfAborted();
    const page = isSame ? landed : await rescanPage(landed, pass.folder, streams[stream]);
    yield { ...page, fresh: freshOf(pass, page) };
  }
}

/** The fingerprints of the records in the file of a landed page, all of which are loaded, and the ids of the others. */
function freshOf({ folder }: Pass, { prints: place }: LandedPage): LandedPage['fresh'] {
  if (place === undefined) return undefined;
  const [leftOut, prints] = printsOfPage(folder, place);
  return { prints, unchanged: [...leftOut.ids] };
}

/**
 * Reports the progress of a pass page by page, with the sums of all pages so far. If the service does not say how many pages
 * to expect, the number comes from the last complete pass of the same request.
 */
export function progressOf(
  { reporter, layout }: Pick<Job, 'reporter' | 'layout'>,
  { record: { stream, kind, request }, pages: before }: Pass,
): (page: LandedPage, expected: number | null) => void {
  let pages = before.length;
  let records = before.reduce((sum, page) => sum + page.records, 0);
  let bytes = before.reduce((sum, page) => sum + page.bytes, 0);
  let last: number | null | undefined;
  const lastPages = (): number | null => {
    const isLike = ({ record }: Pass): boolean =>
      record.complete && record.kind === kind && isDeepStrictEqual(record.request, request);
    if (last === undefined) last = listPasses(layout.landing, stream).findLast(isLike)?.record.pages ?? null;
    return last;
  };
  reporter.progress(stream, pages, null, records, bytes);
  return (page, expected) => {
    records += page.records;
    bytes += page.bytes;
    reporter.progress(stream, ++pages, expected ?? lastPages(), records, bytes, expected === null);
  };
}
