import { LotlakeError } from '../../base/config/lotlake-error.js';
import type { PageFacts } from '../lake/passes/landed-page.js';
import { isFailure } from '../service/errors.js';
import { SCROLL_MINUTES } from '../service/limits.js';
import { requests } from '../service/requests.js';
import { fetchInto } from './fetch-page.js';
import { MOST_BARREN, noveltyOf, type Source, unnamedRanges, type WalkResult } from './plan.js';

/**
 * Walks the scroll form of the feed to its end; yields each page, and returns what they prove. The list stands still while it is read, so no page border moves. A walk
 * continues the scroll of the last landed page, and throws EXTRACT_SCROLL_EXPIRED if the service no longer knows it.
 * The query holds the parameters of the first request, with `limit`, the records per page.
 */
export async function* walkScroll<P extends PageFacts>(
  options: Source<P>,
): AsyncGenerator<P, WalkResult, void> {
  const pages = [...options.sink.landed];
  const bringsNew = noveltyOf(false);
  let barren = 0;
  const ended = (stopped: string | null): WalkResult => {
    const full = pages.findLastIndex(({ records }) => records > 0);
    const hollow = pages.find(({ records }, i) => records === 0 && i < full);
    const lost = hollow === undefined ? null : `page ${hollow.page} came empty, and others behind it did not`;
    const reason = stopped ?? lost;
    const complete = reason === null && full >= 0;
    const byNumber = new Map(pages.map((page) => [page.page, page]));
    return { complete, reason, total: null, unproven: unnamedRanges(byNumber, false) };
  };
  for (;;) {
    const [before, last] = [pages.at(-2), pages.at(-1)];
    if (last !== undefined && (last.scrollId ?? null) === null) return ended(null);
    // An empty page is the end, unless the next one shows that it lost its records.
    if (last?.records === 0 && before?.records === 0) return ended(null);
    if (barren >= MOST_BARREN)
      return ended(`page ${last?.page} and those before it bring no record that is new`);
    const query =
      last === undefined
        ? { ...options.query, scroll_time: SCROLL_MINUTES.most }
        : requests.carsScrollNext.from({ scroll_id: last.scrollId }).query;
    try {
      const page = await fetchInto(options, pages.length + 1, query);
      pages.push(page);
      yield page;
      barren = bringsNew(page) ? 0 : barren + 1;
    } catch (error) {
      if (last === undefined || !isFailure(error, 'SERVICE_BAD_REQUEST')) throw error;
      if (last.records === 0) return ended(null);
      const refused = `the scroll was refused at page ${pages.length + 1}: ${error.message}`;
      throw new LotlakeError('EXTRACT_SCROLL_EXPIRED', refused, {
        cause: error,
        hint: 'a new scroll starts from the beginning; where it happens again, raise LOTLAKE_RATE or page by number',
      });
    }
  }
}
