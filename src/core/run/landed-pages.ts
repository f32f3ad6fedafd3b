import { isDeepStrictEqual } from 'node:util';
import type { Changes } from '../land/changes.js';
import { type LandedPage, rescanPage } from '../land/page.js';
import { listPasses, type Pass } from '../land/pass.js';
import { contractFingerprint } from '../service/contract/fingerprint.js';
import { streams } from '../service/streams.js';
import type { Job } from './job.js';

/** A pass whose records this run loads. */
export interface OpenPass extends Pass {
  /**
   * Selects the records that are new to the lake: landing notes them, the loader loads them, and reconcile counts the
   * others as seen. Without it, whole pages are loaded.
   */
  readonly changes: Changes | undefined;
}

/** Yields the landed pages of a pass. Pages that were compared with another contract are compared with the present one. */
export async function* landedPages(job: Job, pass: OpenPass): AsyncGenerator<LandedPage> {
  const { stream, contract } = pass.record;
  const isSame = contract === contractFingerprint(stream);
  for (const landed of pass.pages) {
    job.signal.throwIfAborted();
    const page = isSame ? landed : await rescanPage(landed, pass.folder, streams[stream]);
    pass.changes?.acceptLanded(pass.folder, page);
    yield page;
  }
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
