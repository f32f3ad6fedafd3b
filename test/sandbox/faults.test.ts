import { afterEach, describe, expect, it } from 'vitest';
import { schemas } from '../../src/core/service/contract/records.js';
import { type Faults, type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { get, idsOf } from './support.js';

let sandbox: Sandbox;
const start = async (faults: Faults = []): Promise<Sandbox> => {
  sandbox = await startSandbox({ vehicles: 200, faults });
  return sandbox;
};
afterEach(() => sandbox.close());

const page = '/cars?per_page=10&page=2';
const fits = (records: readonly unknown[] | undefined): boolean[] =>
  (records ?? []).map((record) => schemas.vehicle.safeParse(record).success);

describe('refusals', () => {
  it.each([
    ['seconds', /^7$/],
    ['date', /GMT$/],
    ['none', null],
  ] as const)('429 with Retry-After as %s', async (retryAfter, wanted) => {
    await start([{ fault: { kind: 'rate-limited', retryAfter, seconds: 7 } }]);
    const got = await get(sandbox, page);
    expect(got.status).toBe(429);
    if (wanted === null) expect(got.headers.get('retry-after')).toBeNull();
    else expect(got.headers.get('retry-after')).toMatch(wanted);
  });

  it('500 once, and 500 forever', async () => {
    await start([{ match: { times: 1 }, fault: { kind: 'server-error' } }]);
    expect([(await get(sandbox, page)).status, (await get(sandbox, page)).status]).toEqual([500, 200]);
    sandbox.setFaults([{ fault: { kind: 'server-error' } }]);
    for (let time = 0; time < 3; time += 1) expect((await get(sandbox, page)).status).toBe(500);
  });

  it('200 with an error body', async () => {
    await start([{ fault: { kind: 'error-member', message: 'no shard' } }]);
    const got = await get(sandbox, page);
    expect([got.status, got.body]).toEqual([200, { error: 'no shard' }]);
  });
});

describe('a fault applies to requests', () => {
  it('chosen by path, page and count', async () => {
    await start([
      { match: { path: '/cars', page: 2, after: 1, times: 2 }, fault: { kind: 'server-error' } },
      { match: { path: /^\/stat/ }, fault: { kind: 'rate-limited' } },
    ]);
    const statuses: number[] = [];
    for (const path of ['/cars?page=1', page, page, page, page, '/statistics', '/archived-lots']) {
      statuses.push((await get(sandbox, path)).status);
    }
    expect(statuses).toEqual([200, 200, 500, 500, 200, 429, 200]);
    expect(sandbox.requests[2]?.faults).toEqual(['server-error']);
  });

  it('chosen by a function', async () => {
    await start(({ number }) => (number % 2 === 0 ? { kind: 'server-error' } : undefined));
    expect([(await get(sandbox, page)).status, (await get(sandbox, page)).status]).toEqual([200, 500]);
  });

  it('chosen by a header', async () => {
    await start();
    const ask = (fault: string) => get(sandbox, page, { 'x-sandbox-fault': fault });
    const limited = await ask('rate-limited?seconds=9');
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '9']);
    expect((await ask('retyped-members?what=id-text')).body.data?.[0]?.id).toMatch(/^no-/);
    const unknown = await ask('meteorite');
    expect(unknown.status).toBe(400);
    expect((await get(sandbox, page)).status).toBe(200);
  });
});

describe('bodies that end badly', () => {
  it('torn connections', async () => {
    await start([{ fault: { kind: 'cut-body' } }]);
    await expect(get(sandbox, page)).rejects.toThrow();
  });

  it('complete messages with half of the text', async () => {
    await start([{ fault: { kind: 'cut-body', ending: 'short-text', at: 0.4 } }]);
    const got = await get(sandbox, page);
    expect(got.status).toBe(200);
    expect(got.text).toMatch(/^\{"data":\[/);
    expect(() => JSON.parse(got.text)).toThrow();
  });

  it('complete messages with half a gzip stream', async () => {
    await start([{ fault: { kind: 'cut-body', ending: 'short-gzip' } }]);
    const [half, whole] = [await bytesOf(page), await bytesOf(page, { 'x-sandbox-fault': '' })];
    sandbox.setFaults([]);
    const all = await bytesOf(page);
    expect(half).toBe(whole);
    expect(half).toBe(Math.floor(all / 2));
  });

  it('corrupt gzip', async () => {
    await start([{ fault: { kind: 'corrupt-gzip' } }]);
    await expect(get(sandbox, page)).rejects.toThrow();
  });

  it('bodies that stall, until the client gives up', async () => {
    await start([{ fault: { kind: 'stalled-body' } }]);
    const response = await fetch(sandbox.url + page, {
      headers: { 'x-api-key': sandbox.apiKey },
      signal: AbortSignal.timeout(300),
    });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow(/aborted/);
  });

  it('slow answers', async () => {
    await start([{ fault: { kind: 'delay', ms: 150 } }]);
    const began = performance.now();
    expect((await get(sandbox, page)).status).toBe(200);
    expect(performance.now() - began).toBeGreaterThan(140);
  });
});

const bytesOf = async (path: string, headers = {}): Promise<number> => {
  const response = await fetch(sandbox.url + path, { headers: { 'x-api-key': sandbox.apiKey, ...headers } });
  await response.body?.cancel();
  return Number(response.headers.get('content-length'));
};

describe('pages that do not add up', () => {
  it('the same page forever', async () => {
    await start([{ fault: { kind: 'repeat-page' } }]);
    const [one, far] = [
      await get(sandbox, '/cars?per_page=10&page=1'),
      await get(sandbox, '/cars?per_page=10&page=900'),
    ];
    expect(idsOf(far)).toEqual(idsOf(one));
    expect(far.body.links?.next).toContain('page=901');
  });

  it('records that come and go while a client pages', async () => {
    await start([
      { match: { path: '/cars', after: 1, times: 1 }, fault: { kind: 'move-clock', hours: 24 * 15 } },
    ]);
    const before = sandbox.world.activeIds();
    const first = await get(sandbox, '/cars?per_page=50&page=1&simple_paginate=0');
    const second = await get(sandbox, '/cars?per_page=50&page=2&simple_paginate=0');
    expect(idsOf(first)).toEqual(before.slice(0, 50));
    expect(idsOf(second)).toEqual(sandbox.world.activeIds().slice(50, 100));
    expect(idsOf(second)).not.toEqual(before.slice(50, 100));
  });
});

describe('records that drift', () => {
  it('unknown members pass the contract', async () => {
    await start([{ fault: { kind: 'extra-members' } }]);
    const got = await get(sandbox, page);
    expect(got.text).toContain('"market_score":0.87');
    expect(got.text).toContain('"seller_rating":"A+"');
    expect(got.text).toContain('"reading_source":"dashboard"');
    expect(fits(got.body.data)).not.toContain(false);
  });

  it('renamed members', async () => {
    await start([{ fault: { kind: 'renamed-members' } }]);
    const got = await get(sandbox, page);
    expect(got.body.data?.every((record) => 'vin_number' in record && !('vin' in record))).toBe(true);
    sandbox.setFaults([{ fault: { kind: 'renamed-members', from: 'lots.bid', to: 'current_bid' } }]);
    const renamed = await get(sandbox, page);
    expect(renamed.text).toContain('"current_bid":');
    expect(renamed.text).not.toContain('"bid":');
  });

  it.each(['bid-object', 'id-text', 'bad-timestamp'] as const)(
    '%s breaks the contract, for every other record',
    async (what) => {
      await start([{ fault: { kind: 'retyped-members', what, every: 2 } }]);
      const got = await get(sandbox, page);
      expect(fits(got.body.data)).toEqual(Array.from({ length: 10 }, (_, place) => place % 2 === 1));
    },
  );
});
