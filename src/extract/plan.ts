/** What paging needs to know of a page that was received. */
export interface PageFacts {
  readonly page: number;
  readonly records: number;
  readonly total: number | null;
  readonly lastPage: number | null;
  readonly next: string | null;
  /** What continues the scroll form of the feed; null where the list is no scroll, or at its end. */
  readonly scrollId?: string | null;
  readonly digest: string;
  readonly firstId: number | null;
  readonly lastId: number | null;
  /** Ids around records whose own cannot be read, null where they begin or end the page; none where all can. */
  readonly unnamed?: readonly [number | null, number | null] | undefined;
  readonly requestedAt: string;
  readonly receivedAt: string;
}

/** How the rest of a list is walked once one page is there. */
export type PagePlan =
  | { readonly mode: 'done' }
  /** Page numbers in the order in which they are asked for. */
  | { readonly mode: 'numbers'; readonly pages: readonly number[] }
  /** Follow `links.next` from this page on. */
  | { readonly mode: 'links'; readonly from: number };

/**
 * Plans the rest of a list. With totals the pages are asked for from the last to the first, because a record that
 * leaves the list moves the later ones up: read backwards, it is met twice instead of never.
 * @param first the page that was read first
 * @param landed numbers of pages that an earlier start of the same pass has
 */
export function planPages(first: PageFacts, landed: ReadonlySet<number>): PagePlan {
  if (first.lastPage !== null) {
    const pages: number[] = [];
    for (let page = first.lastPage; page > 0; page--) if (!landed.has(page)) pages.push(page);
    return pages.length === 0 ? { mode: 'done' } : { mode: 'numbers', pages };
  }
  return first.next === null || first.records === 0 ? { mode: 'done' } : { mode: 'links', from: first.page };
}

/**
 * The page that `links.next` names. Only its paging parameter is taken; a link that lost it means the next number.
 * The link's host and scheme are never used (field-notes.md).
 */
export function nextPage(page: PageFacts): number | undefined {
  if (page.next === null || page.records === 0) return undefined;
  const following = page.page + 1;
  if (!URL.canParse(page.next, 'http://localhost')) return following;
  const named = Number(new URL(page.next, 'http://localhost').searchParams.get('page'));
  return Number.isInteger(named) && named > page.page ? named : following;
}

/**
 * Pages that have to be read again because the list moved while they were read: a page is safe when it was asked for
 * after the page behind it had arrived, or when both saw the same total.
 */
export function unsafePages(pages: readonly PageFacts[]): number[] {
  const byNumber = new Map(pages.map((page) => [page.page, page]));
  return [...byNumber.values()]
    .filter((page) => {
      const behind = byNumber.get(page.page + 1);
      return behind !== undefined && page.requestedAt < behind.receivedAt && page.total !== behind.total;
    })
    .map((page) => page.page)
    .sort((a, b) => b - a);
}

/**
 * Where a page of an ascending list meets the one behind it. A record that slipped from one page to the other unseen,
 * whatever joined or left the list meanwhile, has an id between the last of the one and the first of the other.
 */
export interface Border {
  readonly page: number;
  /** The two ids; the range leaves them out. */
  readonly range: readonly [number, number];
  /** Whether the page was asked for before the one behind had arrived, so that one that leaves moves another across. */
  readonly isOpen: boolean;
  /** Whether both sides have ids to tell what lies between them. */
  readonly hasIds: boolean;
}

/** The borders between pages that leave room for an id. */
export function findBorders(pages: readonly PageFacts[]): Border[] {
  const byNumber = new Map(pages.map((page) => [page.page, page]));
  return [...byNumber.values()].flatMap((page): Border[] => {
    const behind = byNumber.get(page.page + 1);
    if (behind === undefined) return [];
    // A page that came empty is behind the end of a list that has shrunk.
    const high = behind.records === 0 ? Number.MAX_SAFE_INTEGER : (behind.firstId ?? Number.MAX_SAFE_INTEGER);
    const low = page.lastId ?? -1;
    const isOpen = page.requestedAt < behind.receivedAt;
    const hasIds = page.lastId !== null && (behind.records === 0 || behind.firstId !== null);
    return high - low <= 1 ? [] : [{ page: page.page, range: [low, high], isOpen, hasIds }];
  });
}

/**
 * Ranges of ids, ends left out, in which records lie whose ids cannot be read: each may be any of the vehicles there.
 * @param ascending whether the list ascends by id; where it does not, the range is all ids
 */
export function unnamedRanges(pages: readonly PageFacts[], ascending: boolean): [number, number][] {
  const byNumber = new Map(pages.map((page) => [page.page, page]));
  return [...byNumber.values()].flatMap(({ page, unnamed }): [number, number][] => {
    if (unnamed === undefined) return [];
    const low = unnamed[0] ?? byNumber.get(page - 1)?.lastId ?? -1;
    const high = unnamed[1] ?? byNumber.get(page + 1)?.firstId ?? Number.MAX_SAFE_INTEGER;
    return [ascending ? [low, high] : [-1, Number.MAX_SAFE_INTEGER]];
  });
}

/** Pages that hold the very records of another page, by number. */
export function repeatedPages(pages: readonly PageFacts[]): number[] {
  const seen = new Map<string, number>();
  return pages
    .filter((page) => page.records > 0)
    .filter((page) => {
      const isRepeat = seen.has(page.digest);
      seen.set(page.digest, page.page);
      return isRepeat;
    })
    .map((page) => page.page);
}

/** Whether a count is close enough to the service's total for the pass to be trusted: 0.5 %, at least 2 records. */
export function countAgrees(records: number, total: number | null): boolean {
  return total === null || Math.abs(records - total) <= Math.max(2, total * 0.005);
}
