import pLimit from 'p-limit';
import { envelopeSchema } from '../service/contract/envelope.js';
import type { Answer, Client, Query } from './client.js';
import { instant } from './instant.js';
import { readJson } from './open-client.js';
import {
  type Border,
  countAgrees,
  findBorders,
  nextPage,
  type PageFacts,
  planPages,
  repeatedPages,
  unnamedRanges,
  unsafePages,
} from './plan.js';

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
  /** Whether what the list lacks is proven absent: the last page is reached and the count agrees with the total. */
  readonly complete: boolean;
  readonly reason: string | null;
  readonly total: number | null;
  /** Ranges of ids, ends left out, that the walk proves nothing about: a record in them may have been missed. */
  readonly unproven: readonly (readonly [number, number])[];
}

/**
 * Walks a list to its end: by page number from the last page to the first where the service gives totals, else along
 * `links.next`. Pages that the sink already has are not asked for again.
 */
export async function walk<P extends PageFacts>(options: Walk<P>): Promise<WalkResult> {
  const pages = new Map<number, P>(options.sink.landed.map((page) => [page.page, page]));
  const fetchPage = async (number: number, signal = options.signal): Promise<P> => {
    const requestedAt = instant();
    const page = await options.client.get(
      options.path,
      { ...options.query, page: number },
      (answer) => options.sink.land(number, answer, requestedAt),
      signal,
    );
    pages.set(number, page);
    options.onPage?.(page, expectedPages(pages));
    return page;
  };

  const first = [...pages.values()][0] ?? (await fetchPage((await lastPageByTotal(options)) ?? 1));
  const plan = planPages(first, new Set(pages.keys()));
  if (plan.mode === 'links') {
    const repeated = await followLinks(pages.get(1) ?? (await fetchPage(1)), pages, fetchPage);
    return repeated ?? finished(pages, null, await closeBorders(options, pages, fetchPage));
  }
  if (plan.mode === 'numbers') await inParallel(plan.pages, options.concurrency, fetchPage, options.signal);
  if (first.lastPage !== null) {
    await followGrowth(pages, fetchPage);
    await mend(pages, fetchPage);
  }
  const unproven = await closeBorders(options, pages, fetchPage);
  return finished(pages, first.lastPage === null ? null : lastTotal(pages), unproven);
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

async function inParallel(
  numbers: readonly number[],
  concurrency: number,
  fetchPage: (page: number, signal?: AbortSignal) => Promise<unknown>,
  outer: AbortSignal | undefined,
): Promise<void> {
  const stop = new AbortController();
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]);
  const limit = pLimit(concurrency);
  let failure: unknown;
  await Promise.all(
    numbers.map((number) =>
      limit(async () => {
        if (signal.aborted) return;
        try {
          await fetchPage(number, signal);
        } catch (error) {
          failure ??= error;
          stop.abort();
        }
      }),
    ),
  );
  if (failure !== undefined) throw failure;
  outer?.throwIfAborted();
}

/** Reads the pages that the list grew by while others were read. */
async function followGrowth<P extends PageFacts>(
  pages: ReadonlyMap<number, P>,
  fetchPage: (page: number) => Promise<P>,
): Promise<void> {
  const told = (): number => Math.max(...[...pages.values()].map((page) => page.lastPage ?? 0));
  for (let number = Math.max(...pages.keys()) + 1; number <= told(); number++) await fetchPage(number);
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
 * Reads the pages of a border again where a known record lies in between: it has gone, or it slipped through while the
 * list moved. The page behind comes first, so that what leaves meanwhile is met twice and not missed. A border that
 * comes as it was is settled: for a record to be missed both times, others have to leave and join in turn around it.
 * @returns the ranges that stay unproven
 */
async function closeBorders<P extends PageFacts>(
  { isKnownBetween, ascending }: Pick<Walk<P>, 'isKnownBetween' | 'ascending'>,
  pages: ReadonlyMap<number, P>,
  fetchPage: (page: number) => Promise<P>,
): Promise<WalkResult['unproven']> {
  const settled = new Map<number, string>();
  const unsettled = (): Border[] =>
    findBorders([...pages.values()]).filter(({ page, range }) => settled.get(page) !== String(range));
  const isSuspect = ({ range, hasIds }: Border): boolean => hasIds && isKnownBetween?.(...range) === true;
  let left = Math.max(MOST_REREAD.least, pages.size * MOST_REREAD.share);
  for (let round = 0; round < MOST_ROUNDS && ascending && left > 0; round++) {
    const suspects = unsettled()
      .filter(isSuspect)
      .sort((a, b) => b.page - a.page);
    if (suspects.length === 0) break;
    let behind: number | undefined;
    const reread: Border[] = [];
    for (const border of suspects) {
      if (left <= 0) break;
      if (behind !== border.page + 1) await fetchPage(border.page + 1);
      await fetchPage(border.page);
      behind = border.page;
      left -= 2;
      reread.push(border);
    }
    for (const { page, range } of reread) settled.set(page, String(range));
    await followGrowth(pages, fetchPage);
  }
  const open = unsettled().filter((border) => border.isOpen || isSuspect(border));
  return [...open.map(({ range }) => range), ...unnamedRanges([...pages.values()], ascending)];
}

/** Follows `links.next` to the end; a page that repeats an earlier one ends the walk, which then proves nothing. */
async function followLinks<P extends PageFacts>(
  first: P,
  pages: Map<number, P>,
  fetchPage: (page: number) => Promise<P>,
): Promise<WalkResult | undefined> {
  const digests = new Set<string>();
  let page = first;
  for (;;) {
    if (page.records > 0 && digests.has(page.digest)) {
      return {
        ...finished(pages, null, []),
        complete: false,
        reason: `page ${page.page} repeats an earlier page`,
      };
    }
    digests.add(page.digest);
    const number = nextPage(page);
    if (number === undefined) return undefined;
    page = pages.get(number) ?? (await fetchPage(number));
  }
}

function finished(
  pages: ReadonlyMap<number, PageFacts>,
  total: number | null,
  unproven: WalkResult['unproven'],
): WalkResult {
  const received = [...pages.values()];
  const records = received.reduce((sum, page) => sum + page.records, 0);
  const [repeated] = repeatedPages(received);
  const result = { total, unproven };
  if (repeated !== undefined)
    return { ...result, complete: false, reason: `page ${repeated} repeats another page` };
  if (countAgrees(records, total)) return { ...result, complete: true, reason: null };
  return { ...result, complete: false, reason: `${records} records came where the service counts ${total}` };
}

function lastTotal(pages: ReadonlyMap<number, PageFacts>): number | null {
  const latest = [...pages.values()].reduce((a, b) => (b.receivedAt > a.receivedAt ? b : a));
  return latest.total;
}

function expectedPages(pages: ReadonlyMap<number, PageFacts>): number | null {
  return [...pages.values()].at(-1)?.lastPage ?? null;
}
