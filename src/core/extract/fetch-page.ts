import type { PageFacts } from '../lake/passes/landed-page.js';
import { instant } from '../lake/passes/landed-page.js';
import type { Answer } from '../service/client.js';
import type { ServiceRequest } from '../service/requests.js';
import { ATTEMPTS, inPieces, isOfPage, isSized, type Sized, servesOthers } from './in-pieces.js';
import type { Source } from './page-sink.js';

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
