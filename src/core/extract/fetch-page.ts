import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { instant, type PageFacts } from '../lake/passes/landed-page.js';
import type { PageRecords } from '../land/step.js';
import { type Answer, readJson } from '../service/client.js';
import type { ServiceRequest } from '../service/requests.js';
import type { Source } from './plan.js';

/** How often a page is asked for before it is asked for in smaller ones, and how often a smaller one is. */
export const ATTEMPTS = 3;
const ATTEMPTS_OF_PIECE = 2;

/** Requests for smaller pages in one walk. A page of 1000 with one record that cannot be served takes 37. */
export const MOST_PIECES = 500;

/** A page by number whose request states its size, so that a part of it can be asked for. */
type Sized = ServiceRequest['query'] & { readonly page: number; readonly per_page: number };

const isSized = (query: ServiceRequest['query']): query is Sized =>
  typeof query.page === 'number' && typeof query.per_page === 'number' && query.per_page > 1;

const OF_PAGE: readonly string[] = [
  'SERVICE_FAILED',
  'SERVICE_FOREIGN',
  'SERVICE_UNREACHABLE',
  'LAND_PAGE_BROKEN',
];

/** Whether a request failed in a way that one record of its page can cause. */
export const isOfPage = (error: unknown): boolean =>
  error instanceof LotlakeError && OF_PAGE.includes(error.code);

/** A record of a page, or what came in its place. */
type Place = { readonly json: Uint8Array } | { readonly error: string };

/**
 * Asks for a page in smaller ones, from 1000 records to 100, 10 and 1, until each record that the service cannot serve is
 * alone. The pieces are asked for from the last to the first: a record that leaves meanwhile causes a repeat and no miss.
 * Throws `failure`, the error of the page, if more than half of the first pieces fail, too, if the walk has no requests left
 * for pieces, or if a piece fails and its own pieces show no record.
 * @returns the page put together, with a text in the place of each record that did not come
 */
async function inPieces<P extends PageFacts>(
  source: Source<P>,
  query: Sized,
  failure: unknown,
): Promise<Answer> {
  const { client, path, sink, signal, pieces } = source;
  const { page, per_page: size } = query;
  const places: Place[] = [];
  let total: number | null = null;
  let isMore: boolean | undefined;
  const ask = async (number: number, per_page: number): Promise<PageRecords | string> => {
    if (pieces === undefined || pieces.left <= 0) throw failure;
    pieces.left--;
    const smaller = { ...query, page: number, per_page };
    return await client.get(path, smaller, sink.read, signal, ATTEMPTS_OF_PIECE).catch((error: unknown) => {
      if (isOfPage(error)) return messageOf(error);
      throw error;
    });
  };
  /** Puts the records of a page of this size in front of those that came. */
  const collect = async (number: number, of: number): Promise<void> => {
    const piece = pieceOf(of);
    const count = of / piece;
    let failed = 0;
    for (let each = number * count; each > (number - 1) * count; each--) {
      const part = await ask(each, piece);
      if (typeof part !== 'string') {
        total = part.total ?? total;
        // A record behind did not come, so that nothing says yet whether more follow.
        isMore ??= part.records.length === 0 ? false : places.length === 0 ? part.next !== null : undefined;
        places.unshift(...part.records.map((json) => ({ json })));
        continue;
      }
      failed++;
      if (of === size && failed > count / 2) throw failure;
      const before = places.length;
      if (piece > 1) await collect(each, piece);
      else places.unshift({ error: part });
      // What failed holds a record. If none shows, the service contradicts itself.
      if (places.length === before) throw failure;
    }
  };
  await collect(page, size);
  if (total === null && isMore === undefined) {
    const next = await ask(page * size + 1, 1);
    isMore = typeof next === 'string' || next.records.length > 0;
  }
  return answerOf(source, query, places, { total, isMore });
}

/** The size of the pieces of a page: a tenth, or the next smaller size that divides it. */
function pieceOf(size: number): number {
  let piece = Math.max(1, Math.floor(size / 10));
  while (size % piece !== 0) piece--;
  return piece;
}

function answerOf<P extends PageFacts>(
  { path }: Source<P>,
  { page, per_page }: Sized,
  places: readonly Place[],
  { total, isMore }: { readonly total: number | null; readonly isMore: boolean | undefined },
): Answer {
  const last = total === null ? undefined : Math.max(1, Math.ceil(total / per_page));
  const hasNext = last === undefined ? isMore === true : page < last;
  const from = places.length === 0 ? null : (page - 1) * per_page + 1;
  const envelope = {
    links: { next: hasNext ? `?page=${page + 1}` : null },
    meta: {
      current_page: page,
      per_page,
      from,
      to: from === null ? null : from + places.length - 1,
      ...(total === null ? {} : { total, last_page: last }),
    },
  };
  const body = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"data":[');
    for (const [i, place] of places.entries()) {
      if (i > 0) yield Buffer.from(',');
      yield 'json' in place ? place.json : Buffer.from(JSON.stringify(place.error));
    }
    yield Buffer.from(`],${JSON.stringify(envelope).slice(1)}`);
  };
  const unserved = places.flatMap((place, position) =>
    'json' in place ? [] : [{ position, error: place.error }],
  );
  return { url: `${path}?page=${page}`, body: body(), ...(unserved.length === 0 ? {} : { unserved }) };
}

/** Whether the service answers a request for a record before or behind a page, so that it is at fault only for the page. */
async function servesOthers<P extends PageFacts>(
  { client, path, signal }: Source<P>,
  query: Sized,
): Promise<boolean> {
  const { page, per_page: size } = query;
  const others = [(page - 1) * size, page * size + 1].filter((place) => place > 0);
  for (const other of others) {
    try {
      await client.get(path, { ...query, page: other, per_page: 1 }, readJson, signal, 1);
      return true;
    } catch (error) {
      if (!isOfPage(error)) throw error;
    }
  }
  return false;
}

/** Asks for one page and lands it: in pieces if the service serves others and not this one. */
export function fetchInto<P extends PageFacts>(
  source: Source<P>,
  page: number,
  query: ServiceRequest['query'],
): Promise<P> {
  const { client, path, sink, signal } = source;
  const requestedAt = instant();
  const land = (answer: Answer): Promise<P> => sink.land(page, answer, requestedAt);
  const ask = (attempts?: number): Promise<P> => client.get(path, query, land, signal, attempts);
  return isSized(query) && source.pieces !== undefined ? askOrSplit(source, query, ask, land) : ask();
}

async function askOrSplit<P extends PageFacts>(
  source: Source<P>,
  query: Sized,
  ask: (attempts?: number) => Promise<P>,
  land: (answer: Answer) => Promise<P>,
): Promise<P> {
  // A service that is down altogether gets the time of the retry budget.
  for (const attempts of [ATTEMPTS, undefined]) {
    try {
      return await ask(attempts);
    } catch (error) {
      if (!isOfPage(error)) throw error;
      if (await servesOthers(source, query)) return await land(await inPieces(source, query, error));
      if (attempts === undefined) throw error;
    }
  }
  throw new TypeError('a page was neither landed nor refused');
}
