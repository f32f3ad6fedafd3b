import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRateLimit } from '../../src/core/service/pacing.js';
import { quickClient, serve } from './support.js';

/** Timers that a test moves by hand. They are real unless a test sets them. */
const timers = vi.hoisted(() => ({
  isByHand: false,
  now: 0,
  waiting: [] as { readonly at: number; readonly wake: () => void }[],
}));

vi.mock('node:timers/promises', async (original) => {
  const real = await original<typeof import('node:timers/promises')>();
  const byHand = (ms: number): Promise<void> =>
    new Promise((wake) => {
      timers.waiting.push({ at: timers.now + ms, wake });
    });
  return {
    ...real,
    setTimeout: (...args: [number]) => (timers.isByHand ? byHand(...args) : real.setTimeout(...args)),
  };
});

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Moves the clock from one timer to the next until it shows `until`, or until no timer waits. */
async function advance(until = Number.POSITIVE_INFINITY): Promise<void> {
  for (;;) {
    await settle();
    timers.waiting.sort((a, b) => a.at - b.at);
    const [next] = timers.waiting;
    if (next === undefined || next.at > until) break;
    timers.waiting.shift();
    timers.now = Math.max(timers.now, next.at);
    next.wake();
  }
  if (Number.isFinite(until)) timers.now = Math.max(timers.now, until);
}

const gaps = (times: readonly number[]): number[] => times.slice(1).map((time, i) => time - (times[i] ?? 0));

async function read({ body }: { body: AsyncIterable<Uint8Array> }): Promise<void> {
  for await (const _ of body);
}

beforeEach(() => {
  Object.assign(timers, { isByHand: false, now: 1_000_000, waiting: [] });
});

describe('a rate limit', () => {
  it('spaces requests by its interval, and lets none through during a pause', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('take' as const) }),
      fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(2500) }),
      fc.record({ kind: fc.constant('pause' as const), ms: fc.nat(5000) }),
    );
    const perSecond = fc.constantFrom(1, 2, 4, 0.5);
    await fc.assert(
      fc.asyncProperty(perSecond, fc.array(step, { maxLength: 25 }), async (rate, steps) => {
        Object.assign(timers, { isByHand: true, now: 1_000_000, waiting: [] });
        const limit = createRateLimit(rate, () => timers.now);
        const granted: number[] = [];
        const pauses: { readonly from: number; readonly until: number }[] = [];
        for (const step of steps) {
          if (step.kind === 'take') void limit.take().then(() => granted.push(timers.now));
          if (step.kind === 'pass') await advance(timers.now + step.ms);
          if (step.kind === 'pause') {
            await settle();
            pauses.push({ from: timers.now, until: timers.now + step.ms });
            limit.pause(timers.now + step.ms);
          }
        }
        await advance();
        expect(granted.length).toBe(steps.filter(({ kind }) => kind === 'take').length);
        expect(gaps(granted).every((gap) => gap >= 1000 / rate)).toBe(true);
        const early = granted.filter((time) => pauses.some(({ from, until }) => time > from && time < until));
        expect(early).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('reaches the full rate', async () => {
    timers.isByHand = true;
    const limit = createRateLimit(4, () => timers.now);
    const all = Promise.all(Array.from({ length: 9 }, () => limit.take()));
    await advance();
    await all;
    expect(timers.now).toBe(1_000_000 + 8 * 275);
  });

  it('is not shortened by a shorter pause', async () => {
    timers.isByHand = true;
    const limit = createRateLimit(undefined, () => timers.now);
    limit.pause(timers.now + 120);
    limit.pause(timers.now + 10);
    const taken = limit.take();
    await advance();
    await taken;
    expect(timers.now).toBe(1_000_120);
  });

  it('of no number lets everything through at once', async () => {
    timers.isByHand = true;
    const limit = createRateLimit(undefined, () => timers.now);
    await Promise.all(Array.from({ length: 100 }, () => limit.take()));
    expect(timers.waiting).toEqual([]);
  });

  it('stops waiting when the run is interrupted', async () => {
    const limit = createRateLimit(0.001);
    await limit.take();
    const stop = new AbortController();
    const waiting = limit.take(stop.signal);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('the requests of a client', () => {
  it('are spread by its rate, as the server sees them', async () => {
    const server = await serve((_, response) => response.end('{"data":[]}'));
    onTestFinished(() => server.close());
    const client = quickClient(server.url, { rate: 25 });
    await Promise.all(Array.from({ length: 12 }, (_, page) => client.get('/cars', { page }, read)));
    await client.close();
    expect(server.seen.length).toBe(12);
    // Twelve requests span eleven intervals of 40 ms. The network adds or takes far less.
    expect((server.seen.at(-1)?.at ?? 0) - (server.seen[0]?.at ?? 0)).toBeGreaterThan(300);
  });

  it('count against it when they fail', async () => {
    const server = await serve((_, response, number) => {
      response.writeHead(number < 5 ? 500 : 200).end('{"data":[]}');
    });
    onTestFinished(() => server.close());
    const client = quickClient(server.url, { rate: 20 });
    await client.get('/cars', {}, read);
    await client.close();
    expect(server.seen.length).toBe(5);
    expect((server.seen.at(-1)?.at ?? 0) - (server.seen[0]?.at ?? 0)).toBeGreaterThan(130);
  });

  it('all wait when one of them must wait', async () => {
    const server = await serve((_, response, number) => {
      if (number === 1) response.writeHead(429, { 'retry-after': '0.4' });
      response.end('{"data":[]}');
    });
    onTestFinished(() => server.close());
    const client = quickClient(server.url, { rate: 5 });
    await Promise.all([1, 2, 3].map((page) => client.get('/cars', { page }, read)));
    await client.close();
    const times = server.seen.map(({ at }) => at);
    expect(times.length).toBe(4);
    // Without the pause the second would come after 200 ms.
    expect(gaps(times)[0]).toBeGreaterThan(300);
  });
});
