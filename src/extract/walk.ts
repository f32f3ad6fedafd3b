import { envelopeSchema } from '../service/contract/envelope.js';
import type { Answer, Client, Query } from './client.js';
import { instant } from './instant.js';
import { MOST_BARREN, noveltyOf } from './novelty.js';
import { readJson } from './open-client.js';
import { type Border, findBorders, type PageFacts, pagesBack, unnamedRanges, unsafePages } from './plan.js';
import {
  contradictionIn,
  contradictions,
  doubtsOf,
  lastOf,
  type Received,
  whyNotWhole,
  wrongRanges,
} from './proof.js';

/** Where pages go; landing implements it. */
export interface PageSink<P extends PageFacts> {
  /** Pages that an earlier start of the same pass has landed. */
  readonly landed: readonly P[];
  /** Reads the whole answer and keeps it as the page of this number. */
  land(page: number, answer: Answer, requestedAt: string): Promise<P>;
}

/** One walk through a paged list. */
export interface Walk<P extends PageFacts> {
  readonly client: Client;
  readonly path: string;
  /** Parameters of every request, without the page. */
  readonly query: Query;
  readonly concurrency: number;
  /** Whether the list ascends by id, so that records shared by neighbouring pages show that it moved. */
  readonly ascending: boolean;
  readonly sink: PageSink<P>;
  readonly signal?: AbortSignal;
  /** Whether a record is known of, with an id between two others, that the walk has to find or to prove gone. */
  readonly isKnownBetween?: (low: number, high: number) => boolean;
  /** Called for each page as it is landed. */
  readonly onPage?: (page: P, expected: number | null) => void;
}

/** How a walk ended. */
export interface WalkResult {
  /** Whether what the list lacks is proven absent, but for `unproven`: the end is reached, and the numbers agree. */
  readonly complete: boolean;
  /** What the walk does not prove, and why; null where it proves all. */
  readonly reason: string | null;
  readonly total: number | null;
  /** Ranges of ids, ends left out, that the walk proves nothing about: a record in them may have been missed. */
  readonly unproven: readonly (readonly [number, number])[];
}

/**
 * Walks a list to its end: by page number from the last page to the first where the service gives totals, else along
 * `links.next`. Pages that the sink already has are not asked for again, but those that contradict themselves.
 */
export async function walk<P extends PageFacts>(options: Walk<P>): Promise<WalkResult> {
  const { ascending } = options;
  const pages = new Map<number, P>(options.sink.landed.map((page) => [page.page, page]));
  const totals = new Set<number>();
  const note = (page: P): void => {
    if (page.total !== null && contradictionIn(page, undefined, ascending) === undefined)
      totals.add(page.total);
  };
  options.sink.landed.forEach(note);
  const fetchPage = async (number: number, signal = options.signal): Promise<P> => {
    const requestedAt = instant();
    const page = await options.client.get(
      options.path,
      { ...options.query, page: number },
      (answer) => options.sink.land(number, answer, requestedAt),
      signal,
    );
    pages.set(number, page);
    note(page);
    options.onPage?.(page, expectedPages(pages));
    return page;
  };
  const first = [...pages.values()][0] ?? (await fetchPage((await lastPageByTotal(options)) ?? 1));
  let stopped: string | undefined;
  let unproven: WalkResult['unproven'] = [];
  const last = first.lastPage === null ? undefined : await findEnd(first, pages, fetchPage);
  if (last === undefined) {
    let end = pages.get(1) ?? (await fetchPage(1));
    for (let round = 0; round < MOST_ROUNDS && stopped === undefined; round++) {
      stopped = await followLinks(end, pages, fetchPage, ascending);
      if (stopped === undefined) unproven = await closeBorders(options, pages, fetchPage);
      end = lastOf(pages) ?? end;
      // A page that was the end when it was read first may name another now.
      if (end.next === null) break;
    }
    if (first.lastPage !== null)
      stopped ??= `the list ends before page ${first.lastPage}, its last by its own numbers`;
  } else {
    stopped = await readBack(options, last, pages, fetchPage);
    if (stopped === undefined) {
      await followGrowth(last, pages, fetchPage);
      await mend(pages, fetchPage);
      unproven = await closeBorders(options, pages, fetchPage);
    }
  }
  const received = { pages, wrong: contradictions(pages, ascending), totals, ascending };
  return ended(received, last === undefined ? null : lastTotal(pages), unproven, stopped);
}

/** What a walk proves by the pages that it received. */
function ended(
  received: Received,
  total: number | null,
  unproven: WalkResult['unproven'],
  stopped: string | undefined,
): WalkResult {
  const why = stopped ?? whyNotWhole(received);
  if (why !== undefined) return { total, unproven, complete: false, reason: why };
  const reason = doubtsOf(received.wrong) ?? null;
  const complete = reason === null || received.ascending;
  return { total, unproven: [...unproven, ...wrongRanges(received)], complete, reason };
}

/**
 * The number of the last page by what pages tell of it. A page that should hold records and comes empty is asked for
 * again; undefined where it stays so, and the numbers are no guide to the list.
 */
async function findEnd<P extends PageFacts>(
  first: P,
  pages: ReadonlyMap<number, P>,
  fetchPage: (page: number) => Promise<P>,
): Promise<number | undefined> {
  let number = Math.max(1, first.lastPage ?? 1);
  for (let round = 0; round < MOST_BARREN; round++) {
    const known = round === 0 ? pages.get(number) : undefined;
    const { records, lastPage } = known ?? (await fetchPage(number));
    if (records > 0 || number === 1) return number;
    // The list has shrunk.
    if (lastPage !== null && lastPage < number) number = Math.max(1, lastPage);
  }
  return undefined;
}

/** Reads the pages of a list from the last to the first. Gives why it stopped where they go on and bring nothing new. */
async function readBack<P extends PageFacts>(
  { concurrency, signal: outer, ascending }: Walk<P>,
  last: number,
  pages: ReadonlyMap<number, P>,
  fetchPage: (page: number, signal?: AbortSignal) => Promise<P>,
): Promise<string | undefined> {
  const stop = new AbortController();
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]);
  const numbers = pagesBack(last, new Map(pages));
  const bringsNew = noveltyOf(ascending);
  let barren = 0;
  let stopped: string | undefined;
  const work = async (): Promise<void> => {
    for (const number of numbers) {
      if (signal.aborted) return;
      const page = await fetchPage(number, signal);
      barren = bringsNew(page) ? 0 : barren + 1;
      if (barren < MOST_BARREN) continue;
      stopped ??= `pages down to ${number} bring no record that is new`;
      return;
    }
  };
  let failure: unknown;
  const workers = Array.from({ length: concurrency }, () =>
    work().catch((error: unknown) => {
      failure ??= error;
      stop.abort();
    }),
  );
  await Promise.all(workers);
  if (failure !== undefined) throw failure;
  outer?.throwIfAborted();
  return stopped;
}

/**
 * The last page of an ascending list, from the total that a request for one record tells. With it the list is read from
 * its last page to its first without any page being read before its turn; undefined where there is no total.
 */
async function lastPageByTotal(
  options: Pick<Walk<PageFacts>, 'client' | 'path' | 'query' | 'ascending' | 'signal'>,
): Promise<number | undefined> {
  const size = options.query.per_page;
  const asksForTotals = options.query.simple_paginate === 0;
  if (!options.ascending || !asksForTotals || typeof size !== 'number') return undefined;
  const query = { ...options.query, per_page: 1, page: 1 };
  const body = await options.client.get(options.path, query, readJson, options.signal);
  const total = envelopeSchema.safeParse(body).data?.meta?.total ?? undefined;
  return total === undefined ? undefined : Math.max(1, Math.ceil(total / size));
}

/** Reads the pages that the list grew by while others were read. */
async function followGrowth<P extends PageFacts>(
  last: number,
  pages: ReadonlyMap<number, P>,
  fetchPage: (page: number) => Promise<P>,
): Promise<void> {
  const told = (): number =>
    [...pages.values()].reduce((most, { lastPage }) => Math.max(most, lastPage ?? 0), 0);
  for (let number = last + 1; number <= told(); number++) {
    const page = pages.get(number) ?? (await fetchPage(number));
    if (page.records === 0) return;
  }
}

/** How often pages are read again in the hope that the list stands still. */
const MOST_ROUNDS = 3;

/**
 * Reads pages again whose border moved while they were in flight together, so that records that are new to the lake are
 * not missed. What stays open is said in `unproven`.
 */
async function mend<P extends PageFacts>(
  pages: ReadonlyMap<number, P>,
  fetchPage: (page: number) => Promise<P>,
): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const again = unsafePages([...pages.values()]);
    if (again.length === 0) return;
    for (const number of again) await fetchPage(number);
  }
}

/** Pages that are read again to close borders: this share of the list, or so many of a short one. */
const MOST_REREAD = { share: 0.05, least: 20 } as const;

/**
 * Reads pages again that contradict themselves, and the pages of a border where a known record lies in between: it has
 * gone, or it slipped through while the list moved. The page behind comes first, so that what leaves meanwhile is met
 * twice and not missed. A border that comes as it was is settled: for a record to be missed both times, others have to
 * leave and join in turn around it.
 * @returns the ranges that stay unproven
 */
async function closeBorders<P extends PageFacts>(
  { isKnownBetween, ascending }: Pick<Walk<P>, 'isKnownBetween' | 'ascending'>,
  pages: ReadonlyMap<number, P>,
  fetchPage: (page: number) => Promise<P>,
): Promise<WalkResult['unproven']> {
  const settled = new Map<number, string>();
  const unsettled = (): Border[] =>
    ascending
      ? findBorders([...pages.values()]).filter(({ page, range }) => settled.get(page) !== String(range))
      : [];
  const isSuspect = ({ range, hasIds }: Border): boolean => hasIds && isKnownBetween?.(...range) === true;
  let left = Math.max(MOST_REREAD.least, pages.size * MOST_REREAD.share);
  for (let round = 0; round < MOST_ROUNDS && left > 0; round++) {
    const suspects = new Map(
      unsettled()
        .filter(isSuspect)
        .map(({ page, range }) => [page, String(range)]),
    );
    for (const number of contradictions(pages, ascending).keys())
      if (!suspects.has(number - 1)) suspects.set(number - 1, '');
    if (suspects.size === 0) break;
    let behind: number | undefined;
    for (const [number, range] of [...suspects].sort(([a], [b]) => b - a)) {
      if (left <= 0) break;
      if (behind !== number + 1) await fetchPage(number + 1);
      if (number > 0) await fetchPage(number);
      behind = number;
      left -= 2;
      settled.set(number, range);
    }
    await followGrowth(Math.max(...pages.keys()), pages, fetchPage);
  }
  const open = unsettled().filter((border) => border.isOpen || isSuspect(border));
  return [...open.map(({ range }) => range), ...unnamedRanges([...pages.values()], ascending)];
}

/** Follows the pages until one names no next. Gives why it stopped where they go on and bring nothing new. */
async function followLinks<P extends PageFacts>(
  first: P,
  pages: ReadonlyMap<number, P>,
  fetchPage: (page: number) => Promise<P>,
  ascending: boolean,
): Promise<string | undefined> {
  const bringsNew = noveltyOf(ascending);
  let barren = 0;
  for (let page = first; ; page = pages.get(page.page + 1) ?? (await fetchPage(page.page + 1))) {
    const isNew = bringsNew(page);
    if (!isNew && page.firstId !== null) return `page ${page.page} brings no record that is new`;
    const isFull = (page.perPage ?? 0) > 0 && page.records === page.perPage;
    if (page.next === null && (page.tellsEnd !== false || !isFull)) return undefined;
    barren = isNew ? 0 : barren + 1;
    if (barren >= MOST_BARREN)
      return `page ${page.page} and those before it bring no record, and name a next one`;
  }
}

function lastTotal(pages: ReadonlyMap<number, PageFacts>): number | null {
  const latest = [...pages.values()].reduce((a, b) => (b.receivedAt > a.receivedAt ? b : a));
  return latest.total;
}

function expectedPages(pages: ReadonlyMap<number, PageFacts>): number | null {
  return [...pages.values()].at(-1)?.lastPage ?? null;
}
