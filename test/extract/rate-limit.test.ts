import { describe, expect, it, onTestFinished } from 'vitest';
import { createRateLimit } from '../../src/extract/rate-limit.js';
import { quickClient, serve } from './support.js';

/** Timers and arrivals may be off by this much, milliseconds. */
const SLACK = 8;

const gaps = (times: readonly number[]): number[] => times.slice(1).map((time, i) => time - (times[i] ?? 0));

describe('a rate limit', () => {
  it('lets no two requests of a client start closer than its interval, however many are asked for', async () => {
    const server = await serve((_, response) => response.end('{"data":[]}'));
    onTestFinished(() => server.close());
    const client = quickClient(server.url, { rate: 25 });
    const read = async (answer: { body: AsyncIterable<Uint8Array> }) => {
      for await (const _ of answer.body);
    };
    await Promise.all(Array.from({ length: 12 }, (_, page) => client.get('/cars', { page }, read)));
    await client.close();
    expect(server.seen.length).toBe(12);
    expect(client.sent()).toBe(12);
    expect(Math.min(...gaps(server.seen.map(({ at }) => at)))).toBeGreaterThan(40 - 2 * SLACK);
    expect((server.seen.at(-1)?.at ?? 0) - (server.seen[0]?.at ?? 0)).toBeGreaterThan(11 * 40 - SLACK);
  });

  it('counts attempts that fail', async () => {
    const server = await serve((_, response, number) => {
      response.statusCode = number < 4 ? 500 : 200;
      response.end('{"data":[]}');
    });
    onTestFinished(() => server.close());
    const client = quickClient(server.url, { rate: 20 });
    await client.get('/cars', {}, async ({ body }) => {
      for await (const _ of body);
    });
    await client.close();
    expect(server.seen.length).toBe(4);
    expect(Math.min(...gaps(server.seen.map(({ at }) => at)))).toBeGreaterThan(50 - 2 * SLACK);
  });

  it('holds every request until a pause is over, and spaces them from there', async () => {
    const limit = createRateLimit(50);
    const start = Date.now();
    await limit.take();
    const waiting = Promise.all(Array.from({ length: 4 }, () => limit.take().then(() => Date.now())));
    limit.pause(start + 200);
    const times = (await waiting).sort((a, b) => a - b);
    expect(times[0]).toBeGreaterThanOrEqual(start + 200);
    expect(Math.min(...gaps(times))).toBeGreaterThanOrEqual(20 - SLACK);
  });

  it('is not shortened by a shorter pause', async () => {
    const limit = createRateLimit(undefined);
    const start = Date.now();
    limit.pause(start + 120);
    limit.pause(start + 10);
    await limit.take();
    expect(Date.now()).toBeGreaterThanOrEqual(start + 120);
  });

  it('pauses all requests of a client when one is told to wait', async () => {
    const server = await serve((_, response, number) => {
      if (number === 1) response.writeHead(429, { 'retry-after': '0.3' });
      response.end('{"data":[]}');
    });
    onTestFinished(() => server.close());
    const client = quickClient(server.url, { rate: 20 });
    const read = async ({ body }: { body: AsyncIterable<Uint8Array> }) => {
      for await (const _ of body);
    };
    await Promise.all([1, 2, 3, 4].map((page) => client.get('/cars', { page }, read)));
    await client.close();
    const times = server.seen.map(({ at }) => at);
    expect(times.length).toBe(5);
    // What was on its way before the answer came is not called back; the rest waits.
    const later = times.filter((time) => time - (times[0] ?? 0) > 40);
    expect(Math.min(...later) - (times[0] ?? 0)).toBeGreaterThan(300 - SLACK);
  });

  it('without a figure lets everything through at once', async () => {
    const limit = createRateLimit(undefined, () => 1000);
    await Promise.all(Array.from({ length: 100 }, () => limit.take()));
  });

  it('gives up waiting when the run is interrupted', async () => {
    const limit = createRateLimit(0.001);
    await limit.take();
    const stop = new AbortController();
    const waiting = limit.take(stop.signal);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});
