import { BadRequestError } from '../service/errors/bad-request-error.js';
import { MOST_SCROLL_MINUTES } from '../service/requests/cars.js';
import { requests } from '../service/requests/registry.js';
import type { Client, Query } from './client.js';
import { instant } from './instant.js';
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
  let number = options.sink.landed.length;
  let last: P | undefined = options.sink.landed.at(-1);
  const pages = [...options.sink.landed];
  for (;;) {
    if (last !== undefined && (last.records === 0 || (last.scrollId ?? null) === null))
      return {
        ...{ complete: number > 1 || last.records > 0, reason: null, total: null },
        unproven: unnamedRanges(pages, false),
      };
    number++;
    const query: Query =
      last === undefined
        ? { ...options.query, scroll_time: MOST_SCROLL_MINUTES }
        : requests.carsScrollNext.from({ scroll_id: last.scrollId }).query;
    last = await fetchPage(options, number, query);
    pages.push(last);
    options.onPage?.(last);
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
