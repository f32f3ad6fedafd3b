import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { WalkResult } from '../../src/core/extract/plan.js';
import { type Walk, walk } from '../../src/core/extract/walk.js';
import { instant, type PageFacts } from '../../src/core/lake/passes/landed-page.js';
import { digestOf, pagingOf, readPage, unnamedIn } from '../../src/core/land/page.js';
import type { PageSink } from '../../src/core/land/step.js';
import { type Answer, type Client, createClient } from '../../src/core/service/client.js';
import { PageScanner } from '../../src/core/service/scan/scan-page.js';
import { streams } from '../../src/core/service/streams.js';

/** A request that a test server received. */
interface Seen {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** Milliseconds of a steady clock. */
  readonly at: number;
}

/** A server on 127.0.0.1 with the answers of a test. */
export interface TestServer {
  readonly url: string;
  readonly seen: readonly Seen[];
  close(): Promise<void>;
}

/** Starts a server. `answer` gets the number of the request, from 1. */
export async function serve(
  answer: (request: IncomingMessage, response: ServerResponse, number: number) => void,
): Promise<TestServer> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers, at: performance.now() });
    answer(request, response, seen.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server got no port');
  return {
    url: `http://127.0.0.1:${address.port}/api`,
    seen,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Page number of a request. */
export const pageAsked = (url: string | undefined): number =>
  Number(new URL(url ?? '', 'http://127.0.0.1').searchParams.get('page'));

/** A client without a rate limit that waits only a moment between attempts. */
export const quickClient = (url: string, rest: Partial<Parameters<typeof createClient>[0]> = {}): Client =>
  createClient({ baseUrl: url, apiKey: 'the-secret-key', timeout: 5, retryBudget: 5, firstWait: 1, ...rest });

/** A page as a walk sees it, with its ids. */
export interface SeenPage extends PageFacts {
  readonly ids: readonly number[];
}

/** A sink that keeps pages in memory. */
export interface MemorySink extends PageSink<SeenPage> {
  /** Every page in the order of receipt, including later reads of the same page. */
  readonly received: readonly SeenPage[];
}

const { contract } = streams.cars;

const readable = (id = Number.NaN): number | null => (Number.isNaN(id) ? null : id);

/** A sink that scans pages as landing does and keeps what a walk needs. */
export function memorySink(landed: readonly SeenPage[] = []): MemorySink {
  const received: SeenPage[] = [];
  return {
    landed,
    received,
    read: (answer) => readPage(answer.body, { url: answer.url, contract }),
    async land(number: number, answer: Answer, requestedAt: string): Promise<SeenPage> {
      const scanner = new PageScanner(contract);
      for await (const chunk of answer.body) scanner.push(chunk);
      scanner.flush();
      const scan = scanner.finish();
      const page: SeenPage = {
        page: number,
        records: scan.records,
        ids: scan.ids,
        digest: digestOf(scan.ids, 0),
        firstId: readable(scan.ids[0]),
        lastId: readable(scan.ids.at(-1)),
        unnamed: unnamedIn(scan.ids),
        ...(answer.unserved === undefined ? {} : { unserved: answer.unserved }),
        requestedAt,
        receivedAt: instant(),
        ...pagingOf(scan),
      };
      received.push(page);
      return page;
    },
  };
}

/** Reads a walk to its end. Returns what it proves. */
export async function walked(options: Walk<SeenPage>): Promise<WalkResult> {
  const pages = walk(options);
  for (;;) {
    const step = await pages.next();
    if (step.done === true) return step.value;
  }
}

/** Distinct ids that a sink has seen, ascending. */
export const idsSeen = (sink: MemorySink): number[] =>
  [...new Set([...sink.landed, ...sink.received].flatMap(({ ids }) => ids))].sort((a, b) => a - b);
