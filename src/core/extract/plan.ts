import type { PageFacts } from '../lake/passes/landed-page.js';
import type { PageSink } from '../land/step.js';
import type { Client } from '../service/client.js';
import type { ServiceRequest } from '../service/requests.js';

/** Pages of a list by their numbers. */
export type Pages = ReadonlyMap<number, PageFacts>;

/**
 * Pages of a list with totals in the order of their requests: from the last to the first. A record that leaves
 * the list moves the later ones up, so a walk backwards meets a record twice where a walk forwards would miss it.
 * @param landed pages that need no request
 */
export function* pagesBack(last: number, landed: ReadonlyMap<number, unknown>): Generator<number> {
  for (let page = last; page > 0; page--) if (!landed.has(page)) yield page;
}

/**
 * Pages to read again because the list moved while they were read. A page is safe if it was requested after the page
 * behind it had arrived, or if both saw the same total.
 */
export function unsafePages(pages: Pages): number[] {
  return [...pages.values()]
    .filter((page) => {
      const behind = pages.get(page.page + 1);
      return behind !== undefined && page.requestedAt < behind.receivedAt && page.total !== behind.total;
    })
    .map((page) => page.page)
    .sort((a, b) => b - a);
}

/**
 * Where a page of an ascending list meets the page behind it. A record that slipped from one page to the other unseen
 * has an id between the last of the one and the first of the other, whatever else joined or left the list.
 */
export interface Border {
  readonly page: number;
  /** The two ids; the range leaves them out. */
  readonly range: readonly [number, number];
  /** Whether the page was requested before the one behind had arrived. Then a departure moves a record across. */
  readonly isOpen: boolean;
  /** Whether both sides have ids, so that they bound what lies between. */
  readonly hasIds: boolean;
}

/** The borders between pages that leave room for an id. */
export function findBorders(pages: Pages): Border[] {
  return [...pages.values()].flatMap((page): Border[] => {
    const behind = pages.get(page.page + 1);
    if (behind === undefined) return [];
    // An empty page lies behind the end of a list that has shrunk.
    const first = behind.records === 0 ? undefined : (behind.firstId ?? behind.unnamed?.[1]);
    const high = first ?? Number.MAX_SAFE_INTEGER;
    const low = page.lastId ?? page.unnamed?.[0] ?? -1;
    const isOpen = page.requestedAt < behind.receivedAt;
    const hasIds = page.lastId !== null && (behind.records === 0 || behind.firstId !== null);
    return high - low <= 1 ? [] : [{ page: page.page, range: [low, high], isOpen, hasIds }];
  });
}

/** Ranges of ids, ends left out, around records whose ids cannot be read; all ids if the list does not ascend. */
export function unnamedRanges(pages: Pages, ascending: boolean): [number, number][] {
  return [...pages.values()].flatMap(({ page, unnamed }): [number, number][] => {
    if (unnamed === undefined) return [];
    const low = unnamed[0] ?? pages.get(page - 1)?.lastId ?? -1;
    const high = unnamed[1] ?? pages.get(page + 1)?.firstId ?? Number.MAX_SAFE_INTEGER;
    return [ascending ? [low, high] : [-1, Number.MAX_SAFE_INTEGER]];
  });
}

/** Pages in a row that bring nothing new, after which a walk stops. */
export const MOST_BARREN = 20;

/**
 * Makes a function that says of each page in turn whether it has a record that no earlier page had. In a list that ascends by
 * id, the first and last id decide. In any other list all ids decide, or the digest of a page that another process landed.
 */
export function noveltyOf(ascending: boolean): (page: PageFacts) => boolean {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const seen = new Set<number | string>();
  const isUnseen = (id: number | string): boolean => seen.size < seen.add(id).size;
  return ({ records, firstId, lastId, unnamed, ids, digest }) => {
    if (records === 0) return false;
    if (!ascending) return (ids ?? [digest]).filter(isUnseen).length > 0;
    // Where the first or last record has no id, the one beside it does as well.
    const first = firstId ?? unnamed?.[1] ?? low;
    const last = lastId ?? unnamed?.[0] ?? high;
    const isNew = first < low || last > high;
    low = Math.min(low, first);
    high = Math.max(high, last);
    return isNew;
  };
}

/** Options of the walks by page number and along a scroll: a request without its page, and where its pages go. */
export interface Source<P extends PageFacts> extends ServiceRequest {
  readonly client: Client;
  readonly sink: PageSink<P>;
  readonly signal?: AbortSignal | undefined;
  /** Requests for smaller pages that the walk has left; without it, no page is asked for in pieces. */
  readonly pieces?: { left: number };
}

/** How a walk ended. */
export interface WalkResult {
  /** Whether missing records are proven absent, except in `unproven`: the walk reached the end, and the numbers agree. */
  readonly complete: boolean;
  /** What the walk does not prove, and why; null if it proves all. */
  readonly reason: string | null;
  readonly total: number | null;
  /** Ranges of ids, ends left out, that the walk proves nothing about. It may have missed a record in them. */
  readonly unproven: readonly (readonly [number, number])[];
}
