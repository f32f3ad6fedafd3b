import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linksSchema, metaSchema } from '../../src/core/service/contract/envelope.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { type Got, get, idsOf } from './support.js';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 430 });
});
afterAll(() => sandbox.close());

const ask = (path: string): Promise<Got> => get(sandbox, path);

/** Walks a list by the page number in `links.next`. */
async function walkAll(path: string): Promise<Got[]> {
  const pages: Got[] = [];
  for (let page: string | null = '1'; page !== null; ) {
    const got = await ask(`${path}&page=${page}`);
    pages.push(got);
    const next = got.body.links?.next;
    page = next == null ? null : new URL(next).searchParams.get('page');
  }
  return pages;
}

describe.each([
  ['/cars?per_page=100', 'id'],
  ['/archived-lots?per_page=50', 'lot_id'],
  ['/statistics?per_page=50', 'id'],
])('%s', (path, id) => {
  it.each([0, 1])('gives every record once with simple_paginate=%i', async (simple) => {
    const pages = await walkAll(`${path}&simple_paginate=${simple}`);
    const ids = pages.flatMap((page) => idsOf(page, id));
    expect(pages.length).toBeGreaterThan(1);
    expect(ids.length).toBeGreaterThan(50);
    expect(new Set(ids).size).toBe(ids.length);
    if (path.startsWith('/cars')) expect(ids).toEqual(sandbox.world.activeIds());
    if (path.startsWith('/arch')) expect(ids).toEqual(sandbox.world.archivedLotIds());
    for (const { body } of pages) {
      expect(linksSchema.safeParse(body.links).success).toBe(true);
      expect(metaSchema.safeParse(body.meta).success).toBe(true);
    }
  });

  it('has totals and numbered links only without simple pagination', async () => {
    const full = await ask(`${path}&simple_paginate=0`);
    expect(Object.keys(full.body.meta ?? {}).sort()).toEqual([
      'current_page',
      'from',
      'last_page',
      'links',
      'path',
      'per_page',
      'to',
      'total',
    ]);
    expect(full.body.links?.last).toContain(`page=${full.body.meta?.last_page}`);
    const simple = await ask(`${path}&simple_paginate=1`);
    expect(Object.keys(simple.body.meta ?? {}).sort()).toEqual([
      'current_page',
      'from',
      'path',
      'per_page',
      'to',
    ]);
    expect(simple.body.links?.last).toBeNull();
    expect(simple.body.links?.prev).toBeNull();
  });

  it('answers past the end with 200 and no records', async () => {
    const got = await ask(`${path}&page=9999`);
    expect(got.status).toBe(200);
    expect(got.body.data).toEqual([]);
    expect(got.body.links?.next).toBeNull();
    expect(got.body.meta?.from).toBeNull();
  });
});

describe('links', () => {
  it('name another host without TLS and drop parameters', async () => {
    const got = await ask('/cars?per_page=7&prices_history=1&simple_paginate=1&domain_id=3&page=2');
    expect(got.body.links?.next).toBe('http://service.example/api/cars?domain_id=3&per_page=7&page=3');
  });
});

describe('/cars', () => {
  it('gives 50 records a page and no prices unless asked', async () => {
    const got = await ask('/cars');
    expect(got.body.data).toHaveLength(50);
    expect(got.text).not.toContain('"prices"');
    expect((await ask('/cars?prices_history=1')).text).toContain('"prices":[{');
  });

  it('sorts by id, either way', async () => {
    const ids = sandbox.world.activeIds();
    expect(idsOf(await ask('/cars?per_page=1000&sortDirection=desc'))).toEqual(ids.toReversed());
    expect((await ask('/cars?sortDirection=up')).status).toBe(400);
  });

  it('keeps to a source', async () => {
    const got = await ask('/cars?per_page=1000&domain_id=12');
    expect(idsOf(got)).toEqual(sandbox.world.activeIds([12]));
    expect(got.text).toContain('encar_com');
  });

  it('keeps to what changed within some minutes', async () => {
    const got = await ask('/cars?per_page=1000&minutes=4320');
    const since = sandbox.clock.getTime() - 3 * 86_400_000;
    expect(idsOf(got)).toEqual(sandbox.world.activeIds(undefined, since));
    expect(idsOf(got).length).toBeGreaterThan(5);
    expect(idsOf(got).length).toBeLessThan(100);
  });

  it('gives the same bytes again, and others when the clock has moved', async () => {
    const page = '/cars?per_page=200&prices_history=1';
    const first = await ask(page);
    expect((await ask(page)).text).toBe(first.text);
    const was = sandbox.clock;
    sandbox.setClock(new Date(was.getTime() + 3 * 86_400_000));
    expect((await ask(page)).text).not.toBe(first.text);
    sandbox.setClock(was);
    expect((await ask(page)).text).toBe(first.text);
  });
});

describe('/archived-lots', () => {
  it('gives both forms of records, and ignores domain_id', async () => {
    const got = await ask('/archived-lots?per_page=1000&domain_id=12');
    const bids = new Set((got.body.data ?? []).map((record) => typeof record.buy_now));
    expect([...bids].sort()).toEqual(['number', 'object']);
    expect(got.text).toContain('copart_com');
    const vins = (got.body.data ?? []).map((record) => String(record.vin));
    expect(vins.filter((vin) => /[A-Z]/.test(vin))).toEqual([]);
  });

  it('keeps to what was archived within some minutes', async () => {
    const all = idsOf(await ask('/archived-lots?per_page=1000'), 'lot_id');
    const few = idsOf(await ask('/archived-lots?per_page=1000&minutes=4320'), 'lot_id');
    expect(few.length).toBeGreaterThan(0);
    expect(few).toEqual(all.slice(-few.length));
  });
});
