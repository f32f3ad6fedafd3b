import { Readable } from 'node:stream';
import type { PageFacts } from '../lake/passes/landed-page.js';
import { readJson } from '../service/client.js';
import { envelopeSchema } from '../service/contract/envelope.js';
import { ATTEMPTS, fetchInto, isOfPage, MOST_PIECES } from './fetch-page.js';
import {
  type Border,
  findBorders,
  MOST_BARREN,
  noveltyOf,
  pagesBack,
  type Source,
  unnamedRanges,
  unsafePages,
  type WalkResult,
} from './plan.js';
import { contradictionIn, contradictions, doubtsOf, lastOf, whyNotWhole, wrongRanges } from './proof.js';

export interface Walk<P extends PageFacts> extends Source<P> {
  readonly concurrency: number;
  /** Whether the list ascends by id, so that records shared by neighbouring pages show that it moved. */
  readonly ascending: boolean;
  /** Whether a known record has an id between two others. The walk has to find it or to prove it gone. */
  readonly isKnownBetween?: (low: number, high: number) => boolean;
}

/** A walk under way; its pages include the pages of an earlier start. */
type Walking = Omit<ReturnType<typeof begin>, 'sink'>;

/** How the reading of a list ended: why it stopped early, undefined if it reached the end, and what it leaves open. */
type Reading = Pick<WalkResult, 'unproven'> & { readonly stopped: string | undefined };

/**
 * Walks a list to its end: by page number from the last page to the first if the service gives totals, else along
 * `links.next`. Yields each page once it is landed, and returns what they prove. Pages that the sink already has are not
 * requested again unless they contradict themselves.
 */
export const walk = <P extends PageFacts>(options: Walk<P>): AsyncGenerator<P, WalkResult, void> =>
  arriving((landed, signal) => readList({ ...options, signal }, landed), options.signal);

async function readList<P extends PageFacts>(
  options: Walk<P>,
  landed: (page: P) => void,
): Promise<WalkResult> {
  const walking = begin(options, landed);
  const { pages, ascending } = walking;
  const first = [...pages.values()][0] ?? (await walking.fetch((await lastPageByTotal(walking)) ?? 1));
  const last = first.lastPage === null ? undefined : await findEnd(walking, first);
  const { stopped, unproven } =
    last === undefined ? await readForwards(walking, first) : await readBackwards(walking, last);
  const received = { ...walking, wrong: contradictions(pages, ascending) };
  const latest = [...pages.values()].reduce((a, b) => (b.receivedAt > a.receivedAt ? b : a));
  const total = last === undefined ? null : latest.total;
  const why = stopped ?? whyNotWhole(received);
  if (why !== undefined) return { total, unproven, complete: false, reason: why };
  const reason = doubtsOf(received.wrong) ?? null;
  const complete = reason === null || ascending;
  return { total, unproven: [...unproven, ...wrongRanges(received)], complete, reason };
}

function begin<P extends PageFacts>(options: Walk<P>, landed: (page: P) => void) {
  const { ascending, sink } = options;
  const pages = new Map<number, PageFacts>(sink.landed.map((page) => [page.page, page]));
  const totals = new Set<number>();
  const note = (page: PageFacts): void => {
    const isSound = contradictionIn(page, undefined, ascending) === undefined;
    if (page.total !== null && isSound) totals.add(page.total);
  };
  sink.landed.forEach(note);
  const walked = { ...options, pieces: { left: MOST_PIECES } };
  /** Requests a page, even if it was landed before. */
  const fetch = async (number: number, signal = options.signal): Promise<PageFacts> => {
    const page = await fetchInto({ ...walked, signal }, number, { ...options.query, page: number });
    landed(page);
    pages.set(number, page);
    note(page);
    return page;
  };
  return { ...walked, pages, totals, fetch };
}

/** How often pages are read again in the hope that the list stands still. */
const MOST_ROUNDS = 3;

/** Reads a list along its links. */
async function readForwards(walking: Walking, first: PageFacts): Promise<Reading> {
  const { pages, fetch } = walking;
  let end = pages.get(1) ?? (await fetch(1));
  let stopped: string | undefined;
  let unproven: WalkResult['unproven'] = [];
  for (let round = 0; round < MOST_ROUNDS && stopped === undefined; round++) {
    stopped = await followLinks(walking, end);
    if (stopped === undefined) unproven = await closeBorders(walking);
    end = lastOf(pages) ?? end;
    // The page that was the end when it was read first may name a next page now.
    if (end.next === null) break;
  }
  if (first.lastPage !== null)
    stopped ??= `the list ends before page ${first.lastPage}, its last by its own numbers`;
  return { stopped, unproven };
}

/** Reads a list from its last page to its first, then the records that joined it meanwhile. */
async function readBackwards(walking: Walking, last: number): Promise<Reading> {
  const stopped = await readBack(walking, last);
  if (stopped !== undefined) return { stopped, unproven: [] };
  await followGrowth(walking, last);
  await readAgain(walking);
  await mend(walking);
  return { stopped, unproven: await closeBorders(walking) };
}

/**
 * The number of the last page, as the pages state it. A page that should hold records and comes empty is requested again.
 * Undefined if it stays empty: then the numbers cannot be trusted.
 */
async function findEnd({ pages, fetch }: Walking, first: PageFacts): Promise<number | undefined> {
  let number = Math.max(1, first.lastPage ?? 1);
  for (let round = 0; round < MOST_BARREN; round++) {
    const known = round === 0 ? pages.get(number) : undefined;
    const { records, lastPage } = known ?? (await fetch(number));
    if (records > 0 || number === 1) return number;
    // The list has shrunk.
    if (lastPage !== null && lastPage < number) number = Math.max(1, lastPage);
  }
  return undefined;
}

/** Reads pages from the last to the first. Returns why it stopped if they bring nothing new. */
async function readBack(walking: Walking, last: number): Promise<string | undefined> {
  const { concurrency, signal: outer, ascending, pages, fetch } = walking;
  const stop = new AbortController();
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]);
  const numbers = pagesBack(last, new Map(pages));
  const bringsNew = noveltyOf(ascending);
  let barren = 0;
  let stopped: string | undefined;
  const work = async (): Promise<void> => {
    for (const number of numbers) {
      if (signal.aborted) return;
      const page = await fetch(number, signal);
      barren = bringsNew(page) ? 0 : barren + 1;
      if (barren < MOST_BARREN) continue;
      stopped ??= `pages down to ${number} bring no record that is new`;
      return;
    }
  };
  // The first failure ends the other workers. Wait for all of them.
  const workers = Array.from({ length: concurrency }, () => work().catch((error) => stop.abort(error)));
  await Promise.all(workers);
  stop.signal.throwIfAborted();
  outer?.throwIfAborted();
  return stopped;
}

/**
 * The last page of an ascending list, by the total that a request for one record gives. So the walk can begin with the
 * last page, and reads no page before its turn. Undefined if there is no total.
 */
async function lastPageByTotal(walking: Walking): Promise<number | undefined> {
  const { client, path, query, ascending, signal } = walking;
  const size = query.per_page;
  if (!ascending || query.simple_paginate !== 0 || typeof size !== 'number') return undefined;
  const body = await client
    .get(path, { ...query, per_page: 1, page: 1 }, readJson, signal, ATTEMPTS)
    .catch((error: unknown) => {
      // The service may be unable to serve just this record.
      if (!isOfPage(error)) throw error;
    });
  const total = envelopeSchema.safeParse(body).data?.meta?.total ?? undefined;
  return total === undefined ? undefined : Math.max(1, Math.ceil(total / size));
}

/** Reads the pages that were added to the list while others were read. */
async function followGrowth({ pages, fetch }: Walking, last: number): Promise<void> {
  const lastNow = (): number =>
    [...pages.values()].reduce((most, { lastPage }) => Math.max(most, lastPage ?? 0), 0);
  for (let number = last + 1; number <= lastNow(); number++) {
    const page = pages.get(number) ?? (await fetch(number));
    if (page.records === 0) return;
  }
}

/**
 * Reads a list without a known order once more, from its first page to its last, if its total changed while it was read. Records
 * that join at the front push others onto pages that were read before; this time they lie ahead. No border shows that: the
 * ids of such a list say nothing about their places.
 */
async function readAgain(walking: Walking): Promise<void> {
  const { ascending, pages, totals, fetch } = walking;
  if (ascending || totals.size < 2) return;
  const last = Math.max(...pages.keys());
  for (let number = 1; number <= last; number++) await fetch(number);
  await followGrowth(walking, last);
}

/** Reads pages again whose border moved while they were in flight together. */
async function mend({ pages, fetch }: Walking): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const again = unsafePages(pages);
    if (again.length === 0) return;
    for (const number of again) await fetch(number);
  }
}

/** Pages that are read again to close borders: this share of the list, or so many of a short one. */
const MOST_REREAD = { share: 0.05, least: 20 } as const;

/**
 * Reads again the pages that contradict themselves, and the pages around a border with a known record in between: the
 * record has gone, or it slipped through while the list moved. The page behind comes first: if a record leaves meanwhile,
 * the walk meets another one twice and misses none. A border that is the same again is settled: a record is missed both
 * times only if others leave and join in turn around it.
 * @returns the ranges that stay unproven
 */
async function closeBorders(walking: Walking): Promise<WalkResult['unproven']> {
  const { pages, fetch, ascending, isKnownBetween } = walking;
  const settled = new Map<number, string>();
  const unsettled = (): Border[] =>
    ascending ? findBorders(pages).filter(({ page, range }) => settled.get(page) !== String(range)) : [];
  const isSuspect = ({ range, hasIds }: Border): boolean => hasIds && isKnownBetween?.(...range) === true;
  let left = Math.max(MOST_REREAD.least, pages.size * MOST_REREAD.share);
  for (let round = 0; round < MOST_ROUNDS && left > 0; round++) {
    const borders = unsettled().filter(isSuspect);
    const suspects = new Map(borders.map(({ page, range }) => [page, String(range)]));
    for (const number of contradictions(pages, ascending).keys())
      if (!suspects.has(number - 1)) suspects.set(number - 1, '');
    if (suspects.size === 0) break;
    let behind: number | undefined;
    for (const [number, range] of [...suspects].sort(([a], [b]) => b - a)) {
      if (left <= 0) break;
      if (behind !== number + 1) await fetch(number + 1);
      if (number > 0) await fetch(number);
      behind = number;
      left -= 2;
      settled.set(number, range);
    }
    await followGrowth(walking, Math.max(...pages.keys()));
  }
  const open = unsettled().filter((border) => border.isOpen || isSuspect(border));
  return [...open.map(({ range }) => range), ...unnamedRanges(pages, ascending)];
}

/** Follows pages until one names no next. Returns why it stopped if they go on and bring nothing new. */
async function followLinks(
  { ascending, pages, fetch }: Walking,
  first: PageFacts,
): Promise<string | undefined> {
  const bringsNew = noveltyOf(ascending);
  let barren = 0;
  for (let page = first; ; page = pages.get(page.page + 1) ?? (await fetch(page.page + 1))) {
    const isNew = bringsNew(page);
    if (!isNew && page.firstId !== null) return `page ${page.page} brings no record that is new`;
    const isFull = (page.perPage ?? 0) > 0 && page.records === page.perPage;
    if (page.next === null && (page.tellsEnd !== false || !isFull)) return undefined;
    barren = isNew ? 0 : barren + 1;
    if (barren >= MOST_BARREN)
      return `page ${page.page} and those before it bring no record, and name a next one`;
  }
}

/**
 * Yields the values that work finds while it goes on, in their order, and returns what it returns. If the reader stops,
 * the work is aborted, and has ended before the reader goes on.
 * @param outer aborts the work as well
 */
async function* arriving<T, R>(
  work: (found: (value: T) => void, signal: AbortSignal) => Promise<R>,
  outer: AbortSignal | undefined,
): AsyncGenerator<T, R, void> {
  const stop = new AbortController();
  const values = new Readable({ objectMode: true, read: () => undefined });
  const end = (): unknown => values.push(null);
  const working = work(
    (value) => void values.push(value),
    outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]),
  );
  working.then(end, end);
  try {
    yield* values as AsyncIterable<T>;
  } finally {
    stop.abort();
    await working.catch(() => undefined);
  }
  return await working;
}
