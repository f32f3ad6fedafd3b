import { afterEach, describe, expect, it } from 'vitest';
import { endpoints } from '../../src/core/service/endpoints.js';
import { highestRate, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { recordsOf, vehicleAt } from '../served.js';
import { type Got, get } from './support.js';

let sandbox: Sandbox;
const start = async (options: SandboxOptions = {}): Promise<void> => {
  sandbox = await startSandbox({ vehicles: 120, ...options });
};
afterEach(() => sandbox.close());

/** A path that each endpoint answers with 200. */
const samples = (): Map<string, string> => {
  const { world } = sandbox;
  const [id = 0] = world.activeIds([3]);
  const { vin, lots } = vehicleAt(recordsOf(world, [id]), 0);
  const lot = lots.find((one) => one.domain.id === 3)?.lot;
  return new Map([
    ['/cars/{car_id}', `/cars/${id}`],
    ['/listing/{domain_id}/{listing_id}', `/listing/3/${lot}`],
    ['/search-vin/{vin}', `/search-vin/${vin}`],
    ['/search-lot/{lot}[/{domain}]', `/search-lot/${lot}/copart_com`],
    ['/manufacturers[/{type}]', '/manufacturers/all'],
    ['/models/{manufacturer_id}[/{type}]', '/models/48'],
    ['/generations/{model_id}[/{type}]', '/generations/1387/cars'],
    ['/usa/cities/{state_id}', '/usa/cities/44'],
  ]);
};
const paths = (): string[] => Object.values(endpoints).map(({ path }) => samples().get(path) ?? path);

describe('every endpoint', () => {
  it('answers 200 with a key, 403 without, and 405 to anything but GET', async () => {
    await start();
    for (const path of paths()) {
      expect([path, (await get(sandbox, path)).status]).toEqual([path, 200]);
      expect([path, (await get(sandbox, path, { 'x-api-key': 'wrong' })).status]).toEqual([path, 403]);
      const posted = await fetch(sandbox.url + path, {
        method: 'POST',
        headers: { 'x-api-key': sandbox.apiKey },
      });
      expect([path, posted.status, posted.headers.get('allow')]).toEqual([path, 405, 'GET']);
    }
  });

  it('fails on request, with 500 and 429', async () => {
    await start();
    for (const path of paths()) {
      for (const [fault, status] of [
        ['server-error', 500],
        ['rate-limited', 429],
      ] as const) {
        const got = await get(sandbox, path, { 'x-sandbox-fault': fault });
        expect([path, got.status, typeof got.body.message]).toEqual([path, status, 'string']);
      }
    }
  });

  it('has records that can drift', async () => {
    await start({ vehicles: 600 });
    for (const path of paths().filter((one) => one !== '/search/count')) {
      const got = await get(sandbox, path, { 'x-sandbox-fault': 'extra-members?in=record' });
      expect([path, got.text.includes('"market_score":0.87')]).toEqual([path, true]);
    }
  });

  it('is below /api only', async () => {
    await start();
    const outside = await fetch(sandbox.url.replace('/api', '/cars'), {
      headers: { 'x-api-key': sandbox.apiKey },
    });
    expect(outside.status).toBe(404);
  });

  it('has one rate limit over all endpoints', async () => {
    await start({ rate: 3 });
    const answers = await Promise.all(paths().map((path) => get(sandbox, path)));
    expect(answers.filter((got) => got.status === 200)).toHaveLength(3);
    expect(answers.filter((got) => got.status === 429)).toHaveLength(answers.length - 3);
  });
});

describe('the highest rate', () => {
  it('is read from the log, over all endpoints', async () => {
    await start();
    expect(sandbox.highestRate).toBe(0);
    await Promise.all(['/cars?per_page=1', '/usa/states', '/nothing'].map((path) => get(sandbox, path)));
    expect(sandbox.highestRate).toBe(3);
  });

  it('is the rate of the busiest second, wherever it starts', () => {
    const log = (times: readonly number[]) => times.map((at) => ({ at: new Date(at) }));
    expect(highestRate([])).toBe(0);
    expect(highestRate(log([0, 1000, 2000]))).toBe(1);
    expect(highestRate(log([0, 999, 1000, 1500, 1998, 2500]))).toBe(4);
    expect(highestRate(log([5000, 100, 5100, 200, 5999, 6000]))).toBe(3);
  });
});

describe('plans', () => {
  it.each(['demo', 'small'] as const)(
    '%s has pages of 50 on /search and /cars, 100 on /archived-lots',
    async (plan) => {
      await start({ plan });
      for (const [path, highest] of [
        ['/search', 50],
        ['/cars', 50],
        ['/archived-lots', 100],
      ] as const) {
        expect((await get(sandbox, `${path}?per_page=${highest}`)).status).toBe(200);
        const refused = await get(sandbox, `${path}?per_page=${highest + 1}`);
        expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('per_page')]);
      }
    },
  );

  it('demo has 120 requests a day, then 429 until the next day', async () => {
    await start({ plan: 'demo', vehicles: 20, clock: new Date('2026-11-20T18:00:00Z') });
    const statuses: number[] = [];
    let last: Got | undefined;
    for (let request = 0; request < 122; request += 1) {
      last = await get(sandbox, request % 2 === 0 ? '/usa/states' : '/cars?per_page=1');
      statuses.push(last.status);
    }
    expect(statuses).toEqual([...Array(120).fill(200), 429, 429]);
    expect(last?.body.message).toMatch(/[Dd]aily/);
    expect(Math.abs(Number(last?.headers.get('retry-after')) - 6 * 3600)).toBeLessThan(60);
    sandbox.setClock(new Date('2026-11-21T00:00:01Z'));
    expect((await get(sandbox, '/cars')).status).toBe(200);
  });

  it('can have another number of requests a day; a refused key costs none', async () => {
    await start({ requestsPerDay: 2 });
    await get(sandbox, '/cars', { 'x-api-key': 'wrong' });
    const answers = [
      await get(sandbox, '/usa/states'),
      await get(sandbox, '/usa/states'),
      await get(sandbox, '/usa/states'),
    ];
    expect(answers.map((got) => got.status)).toEqual([200, 200, 429]);
    await sandbox.close();
    await start({ plan: 'demo', requestsPerDay: null });
    expect((await get(sandbox, '/cars')).status).toBe(200);
  });
});

describe('the clock over HTTP', () => {
  const move = (body: unknown, key = sandbox.apiKey): Promise<Response> =>
    fetch(`${sandbox.adminUrl}/clock`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify(body),
    });

  it('moves, and the next request sees it', async () => {
    await start();
    const moved = await move({ clock: '2026-12-24T06:00:00Z' });
    expect([moved.status, await moved.json()]).toEqual([200, { clock: '2026-12-24T06:00:00.000Z' }]);
    expect(sandbox.clock.toISOString()).toBe('2026-12-24T06:00:00.000Z');
    const answer = await fetch(`${sandbox.adminUrl}/clock`, { headers: { 'x-api-key': sandbox.apiKey } });
    expect(await answer.json()).toEqual({ clock: '2026-12-24T06:00:00.000Z' });
    expect(sandbox.requests).toEqual([]);
  });

  it('requires the key and a time that the world has', async () => {
    await start();
    expect((await move({ clock: '2026-12-24T06:00:00Z' }, 'wrong')).status).toBe(403);
    for (const body of [
      {},
      { clock: 'tomorrow' },
      { clock: '2026-12-24' },
      { clock: '2020-01-01T00:00:00Z' },
      'x',
    ]) {
      const refused = await move(body);
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ message: expect.stringContaining('clock') });
    }
    const other = await fetch(`${sandbox.adminUrl}/nothing`, { headers: { 'x-api-key': sandbox.apiKey } });
    expect(other.status).toBe(404);
  });

  it('reports the requests so far and their highest rate', async () => {
    await start();
    await get(sandbox, '/usa/states');
    const answer = await fetch(`${sandbox.adminUrl}/requests`, { headers: { 'x-api-key': sandbox.apiKey } });
    expect(await answer.json()).toMatchObject({
      highest_rate: 1,
      requests: [{ number: 1, path: '/usa/states', status: 200 }],
    });
  });
});

describe('/statistics', () => {
  it('keeps to manufacturers, models, generations, engines and years', async () => {
    await start({ vehicles: 900, simplePaginateDefault: 0 });
    const all = sandbox.world.statistics();
    const ids = async (query: string): Promise<unknown[]> =>
      ((await get(sandbox, `/statistics?per_page=500&${query}`)).body.data ?? []).map((row) => row.id);
    const wanted = (keep: (row: (typeof all)[number]) => boolean): unknown[] =>
      all.filter(keep).map((row) => row.id);
    for (const [query, keep] of [
      ['manufacturer_id=48', (row) => row.manufacturer.id === 48],
      ['manufacturer_id=48,124', (row) => [48, 124].includes(row.manufacturer.id)],
      ['model_id=1387', (row) => row.car_model.id === 1387],
      ['generation_id=13872', (row) => row.generation.id === 13872],
      ['engine_id=26', (row) => row.engine?.id === 26],
      ['year=2019', (row) => row.year === 2019],
    ] as [string, (row: (typeof all)[number]) => boolean][]) {
      const found = await ids(query);
      expect([query, found]).toEqual([query, wanted(keep)]);
      expect(found.length).toBeGreaterThan(0);
    }
    for (const name of ['manufacturer_id', 'model_id', 'generation_id', 'engine_id', 'year']) {
      const refused = await get(sandbox, `/statistics?${name}=x`);
      expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(name)]);
    }
  });
});
