import type { PageFacts } from '../lake/passes/landed-page.js';
import type { Pages } from './plan.js';

/** Number of records that a page must hold by its own numbers; undefined if they do not say. */
function expectedRecords({ page, total, perPage, next }: PageFacts): number | undefined {
  const most = perPage ?? 0;
  if (most === 0) return undefined;
  if (total !== null) return Math.min(most, Math.max(0, total - (page - 1) * most));
  return next === null ? undefined : most;
}

/** How a page contradicts its own numbers, its place or the page before it, in words; undefined if it does not. */
export function contradictionIn(
  page: PageFacts,
  before: PageFacts | undefined,
  ascending: boolean,
): string | undefined {
  const { current, announced, from, records, perPage = null, next } = page;
  const name = `page ${page.page}`;
  const expected = expectedRecords(page);
  if (records === 0 && (expected ?? 0) > 0) return `${name} came empty where ${expected} records belong`;
  if (records === 0 && next !== null && page.lastPage === null)
    return `${name} came empty and names another as the next`;
  if (records === 0 && before !== undefined && before.total === null && before.next !== null)
    return `${name} came empty, though the page before names it`;
  if (typeof announced === 'number' && announced !== records)
    return `${name} announces ${announced} records and holds ${records}`;
  if (expected !== undefined && expected !== records)
    return `${name} holds ${records} records where ${expected} belong`;
  if (typeof current === 'number' && current !== page.page) return `${name} says that it is page ${current}`;
  if (typeof from === 'number' && perPage !== null && perPage > 0 && from !== (page.page - 1) * perPage + 1)
    return `${name} says that it begins with record ${from} of the list`;
  // Lists of reference data may come whole on their only page, which names a next one all the same.
  if (!ascending) return undefined;
  if (page.total !== null && page.lastPage !== null && page.page >= page.lastPage && next !== null)
    return `${name} names another as the next, though it is the last of ${page.lastPage}`;
  if ((page.repeats ?? 0) > 0) return `${name} holds ${page.repeats} records twice`;
  return undefined;
}

/**
 * Whether a page of an ascending list begins or ends before the page before it does. One of the two holds ids that
 * belong elsewhere, and nothing says which.
 */
function isOutOfOrder(page: PageFacts, before: PageFacts | undefined): boolean {
  const isBefore = (id: number | null, other: number | null | undefined): boolean =>
    id !== null && typeof other === 'number' && id <= other;
  return isBefore(page.firstId, before?.firstId) || isBefore(page.lastId, before?.lastId);
}

/** Pages that contradict themselves or the pages around them: number and reason. */
export function contradictions(pages: Pages, ascending: boolean): Map<number, string> {
  const found = new Map<number, string>();
  for (const number of [...pages.keys()].sort((a, b) => a - b)) {
    const [page, before] = [pages.get(number), pages.get(number - 1)];
    if (page === undefined) continue;
    const contradiction = contradictionIn(page, before, ascending);
    if (contradiction !== undefined) found.set(number, contradiction);
    if (!ascending || !isOutOfOrder(page, before)) continue;
    for (const wrong of [number - 1, number])
      if (!found.has(wrong))
        found.set(wrong, `pages ${number - 1} and ${number} are not in the order of their ids`);
  }
  return found;
}

/** The last page of a list by its number. */
export function lastOf(pages: Pages): PageFacts | undefined {
  return pages.get([...pages.keys()].reduce((most, number) => Math.max(most, number), 0));
}

/** What a walk received, and what is wrong with it. */
export interface Received {
  readonly pages: Pages;
  /** Pages that contradict themselves even when they are requested again. */
  readonly wrong: ReadonlyMap<number, string>;
  /** Totals of all readings of pages that did not contradict themselves. If they differ, the list moved. */
  readonly totals: ReadonlySet<number>;
  readonly ascending: boolean;
}

/** Ranges of ids, ends left out, in which the records of wrong pages lie: between the pages around them. */
export function wrongRanges({ pages, wrong, ascending }: Received): [number, number][] {
  if (!ascending) return [];
  const sound = [...pages.values()]
    .filter(({ page, firstId, lastId }) => !wrong.has(page) && firstId !== null && lastId !== null)
    .sort((a, b) => a.page - b.page);
  return [...wrong.keys()]
    .map((number): [number, number] => [
      sound.findLast(({ page }) => page < number)?.lastId ?? -1,
      sound.find(({ page }) => page > number)?.firstId ?? Number.MAX_SAFE_INTEGER,
    ])
    .filter(([low, high]) => high - low > 1);
}

/** Why the pages are not the whole list; undefined if they are. */
export function whyNotWhole({ pages, wrong, totals }: Received): string | undefined {
  const all = [...pages.values()];
  const digests = new Set<string>();
  for (const { page, digest } of all.filter(({ records }) => records > 0)) {
    if (digests.has(digest)) return `page ${page} repeats another page`;
    digests.add(digest);
  }
  const end = lastOf(pages);
  if (all.every(({ total }) => total === null))
    return end?.next == null ? undefined : `page ${end.page} names a next one that does not come`;
  if (totals.size === 0) return doubtsOf(wrong);
  const [least, most] = [Math.min(...totals), Math.max(...totals)];
  const size = all.find(({ page, perPage }) => !wrong.has(page) && perPage !== null)?.perPage ?? null;
  // A wrong page counts with the records that belong there. Its place says which ids may be missing.
  const records = all.reduce((sum, page) => {
    const right = wrong.has(page.page) ? expectedRecords({ ...page, total: most, perPage: size }) : undefined;
    return sum + (right ?? page.records);
  }, 0);
  if (records >= least && records <= most) return undefined;
  const counted = least === most ? most : `${least} to ${most}`;
  return `${all.reduce((sum, page) => sum + page.records, 0)} records came where the service counts ${counted}`;
}

/** The first of the contradictions as a text, and how many there are. */
export function doubtsOf(wrong: ReadonlyMap<number, string>): string | undefined {
  const [first] = wrong.values();
  return wrong.size < 2 ? first : `${first}; ${wrong.size} pages in all contradict themselves or each other`;
}
