import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { MOST_BARREN } from '../../src/core/extract/plan.js';
import type { Walk } from '../../src/core/extract/walk.js';
import { type Faults, startSandbox } from '../../src/sandbox/index.js';
import { idsSeen, memorySink, pageAsked, quickClient, type SeenPage, serve, walked } from './support.js';

/** Walks a list with its own client. */
async function walkAt(url: string, rest: Partial<Walk<SeenPage>> = {}, apiKey = 'the-secret-key') {
  const client = quickClient(url, { apiKey });
  const sink = memorySink(rest.sink?.landed);
  try {
    const usual = { path: '/cars', query: { per_page: 50 }, concurrency: 4, ascending: true };
    const result = await walked({ client, ...usual, ...rest, sink });
    return { result, sink };
  } finally {
    await client.close();
  }
}

async function sandboxOf(faults: Faults = []) {
  const sandbox = await startSandbox({ vehicles: 430, faults });
  onTestFinished(() => sandbox.close());
  /** Pages that were requested. A request for one record only asks for the total. */
  const requestedPages = () =>
    sandbox.requests
      .map(({ query }) => new URLSearchParams(query))
      .filter((query) => query.get('per_page') !== '1')
      .map((query) => Number(query.get('page')));
  const walkIt = (query: Walk<SeenPage>['query'], rest: Partial<Walk<SeenPage>> = {}) =>
    walkAt(sandbox.url, { query: { per_page: 50, ...query }, ...rest }, sandbox.apiKey);
  return { sandbox, requestedPages, walkIt };
}

/** A service with a list of so many records. `envelope` has the members beside the data. */
async function listServer(
  ids: readonly number[],
  envelope: (page: number, last: number) => object,
  perPage = 10,
) {
  const last = Math.ceil(ids.length / perPage);
  const server = await serve((request, response) => {
    const page = pageAsked(request.url);
    const data = ids.slice((page - 1) * perPage, page * perPage).map((id) => ({ id }));
    response.end(JSON.stringify({ data, ...envelope(page, last) }));
  });
  onTestFinished(() => server.close());
  return server;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

describe('a list with totals', () => {
  it('is read whole, from its last page to its first', async () => {
    const { sandbox, requestedPages, walkIt } = await sandboxOf();
    const { result, sink } = await walkIt({ simple_paginate: 0 }, { concurrency: 1 });
    const ids = sandbox.world.activeIds();
    const last = Math.ceil(ids.length / 50);
    expect(last).toBeGreaterThan(5);
    expect(requestedPages()).toEqual(upTo(last).reverse());
    expect(idsSeen(sink)).toEqual(ids);
    expect(result).toMatchObject({ complete: true, reason: null, total: ids.length });
  });

  it.each([1, 4])(
    'without an order that grows at its front is read whole, %i requests at once',
    async (concurrency) => {
      for (const added of [1, 7]) {
        const ids = upTo(120).reverse();
        const server = await serve((request, response, number) => {
          // The records that were there before the walk are pushed towards the end. It comes to rest in time.
          if (number > 1 && number < 6) for (let i = 0; i < added; i++) ids.unshift(1000 * number + i);
          const [page, size] = [pageAsked(request.url), 50];
          const data = ids.slice((page - 1) * size, page * size).map((id) => ({ id }));
          const meta = { total: ids.length, last_page: Math.ceil(ids.length / size), per_page: size };
          response.end(JSON.stringify({ data, meta }));
        });
        onTestFinished(() => server.close());
        const { sink } = await walkAt(server.url, { ascending: false, concurrency });
        const missed = upTo(120).filter((id) => !idsSeen(sink).includes(id));
        expect(missed, `${added} added before each answer`).toEqual([]);
      }
    },
  );

  it('without an order ends, whatever a page says of its last', async () => {
    const server = await serve((request, response, number) => {
      const [page, size] = [pageAsked(request.url), 10];
      const data = upTo(40)
        .slice((page - 1) * size, page * size)
        .map((id) => ({ id }));
      const most = number > 3 && page >= 4 ? 9_000_000 : 40;
      const meta = { total: number > 3 ? most + 1 : 40, last_page: most / 10, per_page: size };
      response.end(JSON.stringify({ data, meta }));
    });
    onTestFinished(() => server.close());
    const { sink } = await walkAt(server.url, { ascending: false, concurrency: 1 });
    expect(server.seen.length).toBeLessThan(30);
    expect(idsSeen(sink)).toEqual(upTo(40));
  });

  it('is read whole with several requests at once', async () => {
    const { sandbox, requestedPages, walkIt } = await sandboxOf([
      { match: { page: 4 }, fault: { kind: 'delay', ms: 60 } },
    ]);
    const { result, sink } = await walkIt({ simple_paginate: 0 });
    expect(idsSeen(sink)).toEqual(sandbox.world.activeIds());
    expect(requestedPages().sort((a, b) => a - b)).toEqual(upTo(requestedPages().length));
    expect(result.complete).toBe(true);
  });

  it('is read whole in spite of failures on the way', async () => {
    const { sandbox, walkIt } = await sandboxOf([
      { match: { page: 2, times: 1 }, fault: { kind: 'server-error' } },
      { match: { page: 3, times: 1 }, fault: { kind: 'cut-body', ending: 'socket' } },
      { match: { page: 4, times: 1 }, fault: { kind: 'cut-body', ending: 'short-text' } },
      { match: { page: 5, times: 1 }, fault: { kind: 'cut-body', ending: 'short-gzip' } },
      { match: { page: 6, times: 1 }, fault: { kind: 'corrupt-gzip' } },
      { match: { page: 7, times: 2 }, fault: { kind: 'rate-limited', retryAfter: 'none' } },
    ]);
    const { result, sink } = await walkIt({ simple_paginate: 0 });
    expect(idsSeen(sink)).toEqual(sandbox.world.activeIds());
    expect(result.complete).toBe(true);
    expect(sandbox.requests.filter(({ faults }) => faults.length > 0).length).toBe(7);
  });

  it('ends at a failure that will not pass, and requests nothing more', async () => {
    const server = await serve((request, response, number) => {
      if (number > 1) response.writeHead(403).end('{"message":"expired"}');
      else response.end(`{"data":[{"id":${pageAsked(request.url)}}],"meta":{"last_page":40,"total":40}}`);
    });
    onTestFinished(() => server.close());
    await expect(walkAt(server.url, { concurrency: 3 })).rejects.toMatchObject({
      code: 'SERVICE_KEY_REFUSED',
    });
    expect(server.seen.length).toBeLessThanOrEqual(4);
  });

  it('proves nothing if the count is not the total', async () => {
    const meta = (_: number, last: number) => ({ meta: { last_page: last, total: 1000 } });
    const server = await listServer(upTo(45), meta);
    const { result } = await walkAt(server.url);
    expect(result).toMatchObject({
      complete: false,
      reason: '45 records came where the service counts 1000',
      total: 1000,
    });
  });

  it('is read to its end if it has grown meanwhile', async () => {
    let count = 30;
    const server = await serve((request, response) => {
      const page = pageAsked(request.url);
      if (page === 2) count = 55;
      const data = upTo(count)
        .slice((page - 1) * 10, page * 10)
        .map((id) => ({ id }));
      response.end(JSON.stringify({ data, meta: { last_page: Math.ceil(count / 10), total: count } }));
    });
    onTestFinished(() => server.close());
    const { result, sink } = await walkAt(server.url, { concurrency: 1 });
    expect(idsSeen(sink)).toEqual(upTo(55));
    expect(result).toMatchObject({ complete: true, total: 55 });
  });
});

describe('a list without totals', () => {
  it('is read along its links to the end', async () => {
    const { sandbox, requestedPages, walkIt } = await sandboxOf();
    const { result, sink } = await walkIt({ simple_paginate: 1 });
    expect(requestedPages()).toEqual(upTo(Math.ceil(sandbox.world.activeIds().length / 50)));
    expect(idsSeen(sink)).toEqual(sandbox.world.activeIds());
    expect(result).toMatchObject({ complete: true, reason: null, total: null });
  });

  it('is requested from the base URL with every parameter, wherever the links point', async () => {
    const other = await serve((_, response) => response.end('{"data":[]}'));
    onTestFinished(() => other.close());
    const server = await listServer(upTo(35), (page, last) => ({
      links: { next: page < last ? `${other.url}/cars?page=${page + 1}&domain_id=99` : null },
    }));
    const { sink } = await walkAt(server.url, { query: { per_page: 10, domain_id: 3 } });
    expect(other.seen).toEqual([]);
    expect(server.seen.map(({ url }) => url)).toEqual(
      [1, 2, 3, 4].map((page) => `/api/cars?per_page=10&domain_id=3&page=${page}`),
    );
    expect(idsSeen(sink)).toEqual(upTo(35));
  });

  it('is read to its end if links lack the page number', async () => {
    const server = await listServer(upTo(35), (page, last) => ({
      links: { next: page < last ? 'http://x/' : null },
    }));
    expect(idsSeen((await walkAt(server.url)).sink)).toEqual(upTo(35));
  });

  it('continues after an empty page with a next link, and proves nothing if no page has a record', async () => {
    const server = await listServer(upTo(20), (page) => ({ links: { next: `http://x/?page=${page + 1}` } }));
    const { result, sink } = await walkAt(server.url);
    expect(server.seen.length).toBe(2 + MOST_BARREN);
    expect(result).toMatchObject({ complete: false, reason: expect.stringContaining('name a next one') });
    expect(idsSeen(sink)).toEqual(upTo(20));
  });

  it('ends if a page repeats forever, and proves nothing', async () => {
    const { requestedPages, walkIt } = await sandboxOf([{ fault: { kind: 'repeat-page', page: 1 } }]);
    const { result } = await walkIt({ simple_paginate: 1 });
    expect(requestedPages()).toEqual([1, 2]);
    expect(result).toMatchObject({
      complete: false,
      reason: 'page 2 brings no record that is new',
      total: null,
    });
  });

  it('is stopped between pages when the run is interrupted', async () => {
    const stop = new AbortController();
    const { requestedPages, walkIt } = await sandboxOf([
      { match: { page: 3 }, fault: { kind: 'delay', ms: 50 } },
    ]);
    const isAsked = () => requestedPages().includes(3);
    const stopped = vi.waitUntil(isAsked, { interval: 1 }).then(() => stop.abort());
    await expect(walkIt({ simple_paginate: 1 }, { signal: stop.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    await stopped;
    expect(requestedPages()).toEqual([1, 2, 3]);
  });
});

describe('a resumed walk', () => {
  it.each([0, 1])('requests only the pages that have not landed: simple_paginate=%i', async (simple) => {
    const { sandbox, requestedPages, walkIt } = await sandboxOf();
    const query = { simple_paginate: simple };
    const whole = (await walkIt(query, { concurrency: 1 })).sink.received;
    const last = whole.length;
    for (const have of [1, 3, last - 1, last]) {
      const before = requestedPages().length;
      const { result, sink } = await walkIt(query, {
        concurrency: 1,
        sink: memorySink(whole.slice(0, have)),
      });
      expect(requestedPages().slice(before)).toEqual(whole.slice(have).map(({ page }) => page));
      expect(idsSeen(sink)).toEqual(sandbox.world.activeIds());
      expect(result.complete).toBe(true);
    }
  });
});

describe('an empty list', () => {
  it.each([0, 1])('is one page: simple_paginate=%i', async (simple) => {
    const { requestedPages, walkIt } = await sandboxOf();
    const { result } = await walkIt({ simple_paginate: simple, minutes: 1 });
    expect(requestedPages()).toEqual([1]);
    expect(result).toMatchObject({ complete: true, total: simple === 0 ? 0 : null });
  });
});
