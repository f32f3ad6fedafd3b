import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pageError } from '../../src/core/land/page.js';
import { type Answer, type Client, readJson, urlOf } from '../../src/core/service/client.js';
import { ServiceError } from '../../src/core/service/errors.js';
import { memorySink, quickClient, serve, type TestServer } from './support.js';

const KEY = 'the-secret-key';
const PAGE = '{"data":[{"id":1},{"id":2}]}';

async function textOf({ body }: Answer): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

type Handler = Parameters<typeof serve>[0];

/** A server and a client for it. Both are closed when the test ends. */
async function pair(
  handler: Handler,
  options: Parameters<typeof quickClient>[1] = {},
): Promise<{ server: TestServer; client: Client }> {
  const server = await serve(handler);
  const client = quickClient(server.url, options);
  onTestFinished(async () => {
    await server.close();
    await client.close();
  });
  return { server, client };
}

/** The error of a request, with everything that a log would show of it. */
async function failureOf(client: Client): Promise<ServiceError> {
  const error: unknown = await client.get('/cars', { page: 1 }, textOf).catch((caught: unknown) => caught);
  if (!(error instanceof ServiceError)) throw new Error(`not a service error: ${String(error)}`);
  return error;
}

const everythingOf = (error: Error): string =>
  [
    String(error),
    error.stack,
    JSON.stringify(error, Object.getOwnPropertyNames(error)),
    String(error.cause),
  ].join();

describe('a request', () => {
  it('carries the key and asks for JSON, below the base URL', async () => {
    const { server, client } = await pair((_, response) => response.end(PAGE));
    const query = { domain_id: 3, page: 2, 'sort by': 'a&b' };
    expect(await client.get('/cars', query, textOf)).toBe(PAGE);
    expect(server.seen.map(({ url }) => url)).toEqual(['/api/cars?domain_id=3&page=2&sort+by=a%26b']);
    expect(server.seen[0]?.headers).toMatchObject({ 'x-api-key': KEY, accept: 'application/json' });
    expect(server.seen[0]?.url).not.toContain(KEY);
  });

  it('passes its request to the consumer, without the key', async () => {
    const { server, client } = await pair((_, response) => response.end(PAGE));
    const url = await client.get('cars', { page: 1 }, async (answer) => {
      await textOf(answer);
      return answer.url;
    });
    expect(url).toBe(`${server.url}/cars?page=1`);
  });

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
  ])('reads a body that is packed with %s', async (encoding, pack) => {
    const { server, client } = await pair((_, response) => {
      response.setHeader('content-encoding', encoding);
      response.end(pack(PAGE));
    });
    expect(await client.get('/cars', {}, textOf)).toBe(PAGE);
    expect(server.seen[0]?.headers['accept-encoding']).toContain('gzip');
  });

  it('never follows a redirect, and never sends the key to its target', async () => {
    const other = await serve((_, response) => response.end(PAGE));
    onTestFinished(() => other.close());
    for (const [status, code] of [
      [301, 'SERVICE_UNEXPECTED'],
      [302, 'SERVICE_FOREIGN'],
      [307, 'SERVICE_FOREIGN'],
      [308, 'SERVICE_UNEXPECTED'],
    ] as const) {
      const { server, client } = await pair(
        (_, response) => response.writeHead(status, { location: `${other.url}/cars` }).end(),
        { retryBudget: 0 },
      );
      expect(await failureOf(client)).toMatchObject({ code, status });
      expect(server.seen.length).toBe(1);
    }
    expect(other.seen).toEqual([]);
  });

  it('accepts the longest time-out that the settings allow', async () => {
    const { client } = await pair((_, response) => setTimeout(() => response.end(PAGE), 50), {
      ...{ timeout: 604_800, retryBudget: 0 },
    });
    expect(await client.get('/cars', {}, textOf)).toBe(PAGE);
  });

  it('ends when the run is interrupted', async () => {
    const stop = new AbortController();
    const { server, client } = await pair(() => setTimeout(() => stop.abort(), 20));
    await expect(client.get('/cars', {}, textOf, stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.seen.length).toBe(1);
  });

  it.each(['gzip', 'identity'])(
    'ends when the interrupt comes before anyone reads the body (%s)',
    async (encoding) => {
      const { client } = await pair((_, response) => {
        const bytes = encoding === 'gzip' ? gzipSync(PAGE).subarray(0, 12) : PAGE.slice(0, 12);
        response.writeHead(200, { 'content-encoding': encoding }).write(bytes);
      });
      const stop = new AbortController();
      const late = async (answer: Answer): Promise<string> => {
        stop.abort();
        await sleep(30);
        return textOf(answer);
      };
      await expect(client.get('/cars', {}, late, stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
    },
  );
});

describe('a base URL', () => {
  it('keeps its path prefix, with or without a slash at its end', () => {
    const url = (base: string, path: string) => urlOf(new URL(base), path, { page: 2 }).href;
    expect(url('https://service.example/v1/api/', '/cars')).toBe(
      'https://service.example/v1/api/cars?page=2',
    );
    expect(url('https://service.example/', 'cars')).toBe('https://service.example/cars?page=2');
    expect(url('https://service.example/api/', '//evil.example/cars')).toBe(
      'https://service.example/api/evil.example/cars?page=2',
    );
  });
});

describe('an answer that is a failure', () => {
  it.each([
    [400, 'SERVICE_BAD_REQUEST', 'failed', false],
    [401, 'SERVICE_SOURCE_REFUSED', 'refused', false],
    [403, 'SERVICE_KEY_REFUSED', 'refused', false],
    [404, 'SERVICE_NOT_FOUND', 'failed', false],
    [429, 'SERVICE_RATE_LIMITED', 'unavailable', true],
    [500, 'SERVICE_FAILED', 'unavailable', true],
    [503, 'SERVICE_FAILED', 'unavailable', true],
    [205, 'SERVICE_UNEXPECTED', 'failed', false],
  ])(
    'of %i has a code of its own, with the message of the service',
    async (status, code, outcome, retryable) => {
      const { server, client } = await pair(
        (_, response) =>
          response
            .writeHead(status, status === 205 ? {} : { 'content-encoding': 'gzip' })
            .end(gzipSync(JSON.stringify({ message: 'because of this' }))),
        { retryBudget: 0 },
      );
      const error = await failureOf(client);
      expect(error).toMatchObject({ code, outcome, retryable, status, stage: 'service' });
      expect(error.message).toContain(`(${status})`);
      expect(error.message).toContain(`GET ${server.url}/cars?page=1`);
      if (status !== 205) expect(error.message).toContain('because of this');
      expect(server.seen.length).toBe(1);
      expect(everythingOf(error)).not.toContain(KEY);
    },
  );

  it('is retried only if it may pass', async () => {
    const attempts = async (status: number, body = '{"message":"no"}'): Promise<number> => {
      const { server, client } = await pair((_, response, number) =>
        response.writeHead(number < 3 ? status : 200).end(number < 3 ? body : PAGE),
      );
      await client.get('/cars', {}, textOf).catch(() => undefined);
      return server.seen.length;
    };
    expect(await Promise.all([400, 401, 403, 404].map((status) => attempts(status)))).toEqual([1, 1, 1, 1]);
    const passing = [408, 421, 423, 425, 429, 499, 500, 502, 503, 520];
    expect(await Promise.all(passing.map((status) => attempts(status)))).toEqual(passing.map(() => 3));
    const foreign = [400, 401, 403, 404, 405, 407, 451, 511];
    expect(await Promise.all(foreign.map((status) => attempts(status, '<html>')))).toEqual(
      foreign.map(() => 3),
    );
    expect(await Promise.all([302, 303, 307].map((status) => attempts(status, '')))).toEqual([3, 3, 3]);
  });

  it('of status 429 carries the wait that the service asks for', async () => {
    const { client } = await pair((_, response) => response.writeHead(429, { 'retry-after': '7' }).end(), {
      retryBudget: 1,
    });
    expect(await failureOf(client)).toMatchObject({ retryAfter: 7000 });
  });
});

describe('a good answer that is not JSON', () => {
  it.each([
    ['<!doctype html><title>Log in</title>', 'Log in'],
    ['\n\n  <html>maintenance', '<html>maintenance'],
    ['Service temporarily unavailable', 'Service temporarily unavailable'],
    ['the site is down', 'the site is down'],
  ])('is asked for again: %s', async (body, says) => {
    const { server, client } = await pair((_, response, number) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(number === 1 ? body : PAGE),
    );
    expect(await client.get('/cars', {}, readJson)).toEqual(JSON.parse(PAGE));
    expect(server.seen.length).toBe(2);
    const other = await pair((_, response) => response.setHeader('content-type', 'text/html').end(body), {
      retryBudget: 0,
    });
    const error = await failureOf(other.client);
    expect(error).toMatchObject({ code: 'SERVICE_FOREIGN', outcome: 'unavailable', retryable: true });
    expect(error.message).toContain('(200, text/html)');
    expect(error.message).toContain(says);
  });

  it('is read if a proxy has changed it', async () => {
    const { client } = await pair((_, response) => response.writeHead(203).end(PAGE));
    expect(await client.get('/cars', {}, textOf)).toBe(PAGE);
  });

  it('leads elsewhere for a moment, after the service has answered', async () => {
    const { client } = await pair((_, response, number) =>
      number === 2 ? response.writeHead(301, { location: '/login' }).end() : response.end(PAGE),
    );
    for (let request = 1; request <= 2; request++) expect(await client.get('/cars', {}, textOf)).toBe(PAGE);
  });
});

/** Packs a text as `deflate` without the header of zlib, as some servers do. */
const deflateRaw = (text: string | Buffer): Buffer => deflateRawSync(text);

describe('an encoding that was not asked for', () => {
  it.each<readonly [string, (text: string) => Buffer | string]>([
    ['GZIP', gzipSync],
    ['X-GZip', gzipSync],
    ['gzip, gzip', (text) => gzipSync(gzipSync(text))],
    ['br', brotliCompressSync],
    ['BR', brotliCompressSync],
    ['gzip, br', (text) => brotliCompressSync(gzipSync(text))],
    ['br , gzip', (text) => gzipSync(brotliCompressSync(text))],
    ['deflate', deflateSync],
    ['Deflate', deflateRaw],
    ['identity', String],
    ['identity, gzip', gzipSync],
    ['', gzipSync],
    ['zstd', String],
    ['compress', String],
  ])('is decoded: %s', async (encoding, pack) => {
    const { server, client } = await pair((_, response) =>
      response.setHeader('content-encoding', encoding).end(pack(PAGE)),
    );
    expect(await client.get('/cars', {}, textOf)).toBe(PAGE);
    expect(server.seen.length).toBe(1);
  });

  it.each([
    ['compress', Buffer.from([0x1f, 0x9d, 0x90, 0x7b, 0x44, 0x88])],
    ['zstd', Buffer.from('28b52ffd200100', 'hex')],
    ['dcb', Buffer.from([0xff, 0x44, 0x43, 0x42, 1, 2, 3])],
    ['br', Buffer.from(PAGE)],
    ['deflate', Buffer.from([0x78, 0x9c, 1, 2, 3, 4])],
    ['gzip', Buffer.concat([gzipSync(PAGE).subarray(0, 10), Buffer.from('no deflate here')])],
  ])('is named if it cannot be read: %s', async (encoding, bytes) => {
    for (const status of [200, 403]) {
      const { client } = await pair(
        (_, response) => response.writeHead(status, { 'content-encoding': encoding }).end(bytes),
        { retryBudget: 0 },
      );
      const error = await failureOf(client);
      expect(error).toMatchObject({ outcome: 'unavailable', retryable: true });
      expect(error.message).toContain(`encoding (${encoding})`);
    }
  });
});

describe('a body that does not arrive whole', () => {
  const head = '{"data":[{"id":1},';
  const flows: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ['a connection that is torn down', (response) => response.write(head, () => response.destroy())],
    [
      'a body shorter than announced',
      (response) => {
        response.setHeader('content-length', 500);
        response.write(head, () => response.destroy());
      },
    ],
    ['a text that ends early', (response) => response.end(head)],
    [
      'a gzip stream that ends early',
      (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(PAGE).subarray(0, 20)),
    ],
    [
      'a gzip stream that ends early and is not announced',
      (response) => response.end(gzipSync(PAGE).subarray(0, 20)),
    ],
    ['a body that stalls', (response) => response.write(head)],
    ['an answer that never begins', () => undefined],
  ];

  it.each<readonly [string, (response: ServerResponse) => void]>([
    ['gzip that is not announced', (response) => response.end(gzipSync(PAGE))],
    [
      'gzip of which the first byte comes alone',
      (response) => {
        const bytes = gzipSync(PAGE);
        response.write(bytes.subarray(0, 1), () => setTimeout(() => response.end(bytes.subarray(1)), 20));
      },
    ],
    [
      'plain text that is announced as gzip',
      (response) => response.setHeader('content-encoding', 'gzip').end(PAGE),
    ],
    ['a byte order mark', (response) => response.end(`\ufeff${PAGE}`)],
  ])('is read at once: %s', async (_, flow) => {
    const { server, client } = await pair((_request, response) => flow(response));
    expect(await client.get('cars', { page: 1 }, readJson)).toEqual(JSON.parse(PAGE));
    expect(server.seen.length).toBe(1);
  });

  it('of 204 is an empty page', async () => {
    const { client } = await pair((_request, response) => response.writeHead(204).end());
    expect(await client.get('cars', { page: 1 }, readJson)).toEqual({ data: [], links: { next: null } });
  });

  it.each(flows)('is requested again: %s', async (_, flow) => {
    const { server, client } = await pair(
      (_request, response, number) => {
        if (number === 1) flow(response);
        else response.end(PAGE);
      },
      { timeout: 0.25 },
    );
    const sink = memorySink();
    const page = await client.get('/cars', { page: 1 }, (answer) =>
      sink.land(1, answer, new Date().toISOString()),
    );
    expect(page.ids).toEqual([1, 2]);
    expect(sink.received.length).toBe(1);
    expect(server.seen.length).toBe(2);
  });

  it('is reported as such when the budget ends', async () => {
    const { client } = await pair((_, response) => response.write(head, () => response.destroy()), {
      retryBudget: 0,
    });
    const error = await failureOf(client);
    expect(error).toMatchObject({ code: 'SERVICE_UNREACHABLE', outcome: 'unavailable', retryable: true });
    expect(everythingOf(error)).not.toContain(KEY);
  });

  it('is reported as such if no server listens', async () => {
    const server = await serve(() => undefined);
    await server.close();
    const client = quickClient(server.url, { retryBudget: 0 });
    const error = await failureOf(client);
    await client.close();
    expect(error.code).toBe('SERVICE_UNREACHABLE');
    expect(error.message).toContain('ECONNREFUSED');
    expect(everythingOf(error)).not.toContain(KEY);
  });
});

describe('a body that its consumer refuses', () => {
  it('is requested again if the consumer calls its error temporary, and that error is kept', async () => {
    const { server, client } = await pair((_, response) => response.end('{"error":"backend"}'), {
      retryBudget: 0.05,
    });
    const refused = client.get('/cars', {}, async (answer) => {
      throw pageError(answer.url, `the service says ${await textOf(answer)}`);
    });
    await expect(refused).rejects.toMatchObject({ code: 'LAND_PAGE_BROKEN' });
    expect(server.seen.length).toBeGreaterThan(1);
  });
});
