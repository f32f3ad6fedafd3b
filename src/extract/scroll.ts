import { BadRequestError } from '../service/errors.js';
import { SCROLL_MINUTES } from '../service/limits.js';
import { requests } from '../service/requests.js';
import type { Client, Query } from './client.js';
import { instant } from './instant.js';
import { MOST_BARREN, noveltyOf } from './novelty.js';
import { type PageFacts, unnamedRanges } from './plan.js';
import { ScrollExpiredError } from './scroll-expired-error.js';
import type { PageSink, WalkResult } from './walk.js';

/** One walk along a scroll. */
export interface ScrollWalk<P extends PageFacts> {
  readonly client: Client;
  readonly path: string;
  /** Parameters of the first request, with `limit`, the records a page. */
  readonly query: Query;
  readonly sink: PageSink<P>;
  readonly signal?: AbortSignal;
  readonly onPage?: (page: P) => void;
}

/**
 * Walks the scroll form of the feed to its end: the list stands still while it is read, so that no page border moves.
 * Goes on with the scroll of the last landed page. Throws ScrollExpiredError where the service no longer knows it.
 */
export async function walkScroll<P extends PageFacts>(options: ScrollWalk<P>): Promise<WalkResult> {
  const pages = [...options.sink.landed];
  const bringsNew = noveltyOf(false);
  let barren = 0;
  const ended = (stopped: string | null): WalkResult => {
    const full = pages.findLastIndex(({ records }) => records > 0);
    const hollow = pages.find(({ records }, i) => records === 0 && i < full);
    const lost = hollow === undefined ? null : `page ${hollow.page} came empty, and others behind it did not`;
    const reason = stopped ?? lost;
    const complete = reason === null && full >= 0;
    return { complete, reason, total: null, unproven: unnamedRanges(pages, false) };
  };
  for (;;) {
    const [before, last] = [pages.at(-2), pages.at(-1)];
    if (last !== undefined && (last.scrollId ?? null) === null) return ended(null);
    // An empty page is the end, unless the next one shows that it lost its records.
    if (last?.records === 0 && before?.records === 0) return ended(null);
    if (barren >= MOST_BARREN)
      return ended(`page ${last?.page} and those before it bring no record that is new`);
    const query: Query =
      last === undefined
        ? { ...options.query, scroll_time: SCROLL_MINUTES.most }
        : requests.carsScrollNext.from({ scroll_id: last.scrollId }).query;
    try {
      const page = await fetchPage(options, pages.length + 1, query);
      pages.push(page);
      options.onPage?.(page);
      barren = bringsNew(page) ? 0 : barren + 1;
    } catch (error) {
      if (!(error instanceof ScrollExpiredError) || last?.records !== 0) throw error;
      return ended(null);
    }
  }
}

async function fetchPage<P extends PageFacts>(
  options: ScrollWalk<P>,
  number: number,
  query: Query,
): Promise<P> {
  const requestedAt = instant();
  try {
    return await options.client.get(
      options.path,
      query,
      (answer) => options.sink.land(number, answer, requestedAt),
      options.signal,
    );
  } catch (error) {
    if (number > 1 && error instanceof BadRequestError) throw new ScrollExpiredError(number, error);
    throw error;
  }
}
