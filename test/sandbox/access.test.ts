import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { rateBudget } from '../../src/sandbox/server/start.js';
import { get } from './support.js';

const open: Sandbox[] = [];
async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ vehicles: 120, ...options });
  open.push(sandbox);
  return sandbox;
}
afterEach(async () => {
  for (const sandbox of open.splice(0)) await sandbox.close();
});

describe('the key', () => {
  it('is required on every request', async () => {
    const sandbox = await start();
    for (const key of ['', 'other']) {
      const got = await get(sandbox, '/cars', { 'x-api-key': key });
      expect(got.status).toBe(403);
      expect(got.body.message).toBeTypeOf('string');
    }
    expect((await fetch(`${sandbox.url}/cars`)).status).toBe(403);
  });

  it('can be chosen', async () => {
    const sandbox = await start({ apiKey: 'key-of-its-own' });
    expect((await get(sandbox, '/cars?per_page=1')).status).toBe(200);
    expect((await get(sandbox, '/cars', { 'x-api-key': 'sandbox-key' })).status).toBe(403);
  });

  it('gives access only to its sources', async () => {
    const sandbox = await start({ domains: [3, 12] });
    expect((await get(sandbox, '/cars?domain_id=1')).status).toBe(401);
    expect((await get(sandbox, '/cars?domain_id=3')).status).toBe(200);
    const without12 = await start({ domains: [1, 3] });
    for (const path of ['/korea-options', '/korea-duplicates'])
      expect([(await get(sandbox, path)).status, (await get(without12, path)).status]).toEqual([200, 401]);
    const all = await get(sandbox, '/cars?per_page=1000&simple_paginate=0');
    expect(all.body.meta?.total).toBeLessThan(sandbox.world.activeIds().length);
  });
});

describe('plans', () => {
  it.each([
    ['demo', '/cars', 50],
    ['small', '/archived-lots', 100],
    ['demo', '/statistics', 10],
    ['unlimited', '/cars', 1000],
    ['unlimited', '/statistics', 500],
  ] as const)('%s allows pages of %s up to %i', async (plan, path, highest) => {
    const sandbox = await start({ plan });
    expect((await get(sandbox, `${path}?per_page=${highest}`)).status).toBe(200);
    const refused = await get(sandbox, `${path}?per_page=${highest + 1}`);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toBeTypeOf('string');
  });
});

describe('parameters', () => {
  it.each([
    '/cars?page=0',
    '/cars?page=x',
    '/cars?per_page=0',
    '/cars?per_page=1.5',
    '/cars?minutes=4321',
    '/cars?minutes=0',
    '/cars?domain_id=2',
    '/cars?prices_history=2',
    '/cars?simple_paginate=yes',
    '/archived-lots?minutes=-1',
  ])('%s is refused with 400', async (path) => {
    const sandbox = await start();
    expect((await get(sandbox, path)).status).toBe(400);
  });

  it('the key decides simple pagination if a request does not', async () => {
    const simple = await get(await start(), '/cars?per_page=2');
    const full = await get(await start({ simplePaginateDefault: 0 }), '/cars?per_page=2');
    expect(simple.body.meta).not.toHaveProperty('total');
    expect(full.body.meta).toHaveProperty('total');
  });

  it('an unknown path is refused with 404', async () => {
    expect((await get(await start(), '/nothing')).status).toBe(404);
    const { url } = await start();
    for (const path of ['//', '///', '//[', '//host/api/cars'])
      expect((await fetch(`${new URL(url).origin}${path}`)).status, path).toBe(403);
  });
});

describe('the rate', () => {
  it('is limited on request, with 429', async () => {
    const sandbox = await start({ rate: 2 });
    const answers = await Promise.all([1, 2, 3, 4].map(() => get(sandbox, '/cars?per_page=1')));
    expect(answers.map((got) => got.status).sort()).toEqual([200, 200, 429, 429]);
    expect(answers.find((got) => got.status === 429)?.headers.get('retry-after')).toBe('1');
  });

  it('is a sliding window', () => {
    let now = 0;
    const admits = rateBudget(0.5, () => now);
    expect([admits(), admits()]).toEqual([true, false]);
    now = 2001;
    expect(admits()).toBe(true);
  });
});

describe('bodies', () => {
  it('are gzipped only for clients that accept it', async () => {
    const sandbox = await start();
    const raw = (encoding: string): Promise<readonly [string | undefined, Buffer]> =>
      new Promise((resolve, reject) => {
        const headers = { 'x-api-key': sandbox.apiKey, 'accept-encoding': encoding };
        request(`${sandbox.url}/cars?per_page=5`, { headers }, (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('end', () => resolve([response.headers['content-encoding'], Buffer.concat(parts)]));
        })
          .on('error', reject)
          .end();
      });
    const [zipped, plain] = [await raw('gzip, deflate'), await raw('identity')];
    expect([zipped[0], plain[0]]).toEqual(['gzip', undefined]);
    expect(gunzipSync(zipped[1]).equals(plain[1])).toBe(true);
  });

  it('can be kept in memory', async () => {
    const sandbox = await start({ cache: true });
    const [one, two] = [await get(sandbox, '/cars?per_page=50'), await get(sandbox, '/cars?per_page=50')];
    expect(two.text).toBe(one.text);
    sandbox.setClock(new Date(sandbox.clock.getTime() + 20 * 86_400_000));
    expect((await get(sandbox, '/cars?per_page=50')).text).not.toBe(one.text);
  });
});

describe('the log', () => {
  it('lists every request with its answer', async () => {
    const sandbox = await start();
    await get(sandbox, '/cars?per_page=1');
    await get(sandbox, '/cars?page=0');
    expect(
      sandbox.requests.map(({ number, method, path, query, status }) => [
        number,
        method,
        path,
        query,
        status,
      ]),
    ).toEqual([
      [1, 'GET', '/cars', 'per_page=1', 200],
      [2, 'GET', '/cars', 'page=0', 400],
    ]);
    expect(sandbox.requests[0]?.bytes).toBeGreaterThan(500);
  });
});

describe('the server', () => {
  it('listens on this machine only, and stops', async () => {
    const sandbox = await start();
    expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api$/);
    await sandbox.close();
    await sandbox.close();
    await expect(fetch(sandbox.url)).rejects.toThrow();
  });

  it('reports that its port is taken', async () => {
    const first = await start();
    await expect(startSandbox({ port: Number(new URL(first.url).port) })).rejects.toThrow(/EADDRINUSE/);
  });
});
