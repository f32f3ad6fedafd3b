import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemas } from '../../src/core/service/contract/records.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { at, type Got, get, type Json, listOf, type Seen, seenIn } from './support.js';

let sandbox: Sandbox;
let seen: Seen[];
beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 1500, seed: 2 });
  seen = seenIn(sandbox.world);
});
afterAll(() => sandbox.close());

const ask = (path: string): Promise<Got> => get(sandbox, path);
const lots = (): Json[] => seen.flatMap((one) => listOf(one.vehicle.lots));
const named = (list: readonly Json[]): Map<unknown, unknown> =>
  new Map(list.map((row) => [row.id, row.name]));

describe('/usa/damages', () => {
  it('has about 2,300 rows over three pages, including the damages of lots, and junk after about 100', async () => {
    const pages = await Promise.all([1, 2, 3, 4].map((page) => ask(`/usa/damages?page=${page}`)));
    expect(pages.map((page) => page.body.data?.length)).toEqual([1000, 1000, 300, 0]);
    const rows = pages.flatMap((page) => page.body.data ?? []);
    const names = named(rows);
    expect(names.size).toBe(rows.length);
    const damages = lots()
      .flatMap((lot) => [at(lot, 'damage.main'), at(lot, 'damage.second')])
      .filter((damage): damage is Json => damage != null);
    expect(damages.length).toBeGreaterThan(1000);
    expect(damages.every((damage) => names.get(damage.id) === damage.name)).toBe(true);
    const junk = rows.filter((row) => /^[A-Z][a-z]([/|][A-Z][a-z])?$/.test(String(row.name)));
    expect(junk.length).toBeGreaterThan(2100);
    expect(junk.every((row) => Number(row.id) >= 100)).toBe(true);
  });
});

describe('/usa/states', () => {
  it('has the states of lots, with a code in one of two members', async () => {
    const [us, ca] = [
      (await ask('/usa/states')).body.data ?? [],
      (await ask('/usa/states?country=ca')).body.data ?? [],
    ];
    expect([us.length, ca.length]).toEqual([51, 13]);
    expect((await ask('/usa/states?country=us')).body.data).toEqual(us);
    expect(us.every((row) => typeof row.code === 'string')).toBe(true);
    expect(ca.every((row) => typeof row.state_code === 'string' && !('code' in row))).toBe(true);
    for (const [iso, list] of [
      ['us', us],
      ['ca', ca],
    ] as const) {
      const states = lots()
        .filter((lot) => at(lot, 'location.country.iso') === iso)
        .map((lot) => at(lot, 'location.state'))
        .filter((state): state is Json => state != null);
      expect(states.length).toBeGreaterThan(10);
      expect(states.every((state) => named(list).get(state.id) === state.name)).toBe(true);
    }
    const refused = await ask('/usa/states?country=mx');
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('country')]);
  });
});

describe('/usa/cities/{state_id}', () => {
  it('has the cities of lots in that state', async () => {
    const texas = (await ask('/usa/cities/44')).body.data ?? [];
    const cities = lots()
      .filter((lot) => at(lot, 'location.state.id') === 44)
      .map((lot) => at(lot, 'location.city'));
    expect(cities.length).toBeGreaterThan(10);
    expect(cities.every((city) => named(texas).get(at(city, 'id')) === at(city, 'name'))).toBe(true);
    expect((await ask('/usa/cities/9999')).body.data).toEqual([]);
    expect((await ask('/usa/cities/tx')).status).toBe(400);
  });
});

describe('/usa/titles', () => {
  it('has the titles and detailed titles of lots', async () => {
    const names = named((await ask('/usa/titles')).body.data ?? []);
    const titles = lots()
      .flatMap((lot) => [lot.title, lot.detailed_title])
      .filter((title): title is Json => title != null);
    expect(titles.length).toBeGreaterThan(1000);
    expect(titles.every((title) => names.get(title.id) === title.name)).toBe(true);
  });
});

describe('reference lists that ignore page', () => {
  it.each(['/usa/titles', '/usa/cities/5'])(
    '%s repeats its rows and always names a next page',
    async (path) => {
      const pages = await Promise.all([1, 2, 40].map((page) => ask(`${path}?page=${page}`)));
      expect(pages.map((page) => page.body.data)).toEqual(Array(3).fill(pages[0]?.body.data));
      expect(pages.map((page) => page.body.links?.next?.split('page=').at(-1))).toEqual(['2', '3', '41']);
      expect((await ask(`${path}?page=0`)).status).toBe(400);
    },
  );
});

describe('/korea-options', () => {
  it('is a bare array of 62 rows that decode details.options.standard', async () => {
    const rows: Json[] = JSON.parse((await ask('/korea-options')).text);
    expect(rows).toHaveLength(62);
    for (const row of rows) {
      expect(row).toMatchObject({
        id: expect.any(Number),
        code: expect.stringMatching(/^\d{3}$/),
        name: expect.stringMatching(/./),
        name_original: expect.stringMatching(/./),
        sort: expect.any(Number),
        section: expect.any(String),
        section_name: expect.any(String),
      });
    }
    for (const optional of ['description', 'location', 'image']) {
      expect(rows.some((row) => optional in row) && rows.some((row) => !(optional in row))).toBe(true);
    }
    const codes = new Set(rows.map((row) => row.code));
    const used = lots().flatMap((lot) => at(lot, 'details.options.standard') ?? []);
    expect(used.length).toBeGreaterThan(1000);
    expect(used.every((code) => codes.has(code))).toBe(true);
  });
});

describe('/korea-duplicates', () => {
  const pairs = async (query = ''): Promise<readonly Json[]> =>
    (await ask(`/korea-duplicates?${query}`)).body.data ?? [];

  it('pairs lot numbers of source 12, further lots of one vehicle among them', async () => {
    const all = await pairs('per_page=5000');
    expect(all.length).toBeGreaterThan(20);
    expect(all.every((row) => Number.isInteger(row.original_id) && Number.isInteger(row.duplicate_id))).toBe(
      true,
    );
    const known = new Set(all.map((row) => `${row.original_id} ${row.duplicate_id}`));
    // Only the first lot of a vehicle has such a number. For the other vehicles, that lot is archived.
    const listed = seen.filter(
      ({ lots: [first] }) => at(first, 'domain.id') === 12 && Number(first?.lot) % 16 === 0,
    );
    const wanted = listed.flatMap(({ lots: [first, ...others] }) =>
      others.map((other) => `${first?.lot} ${other.lot}`),
    );
    expect(wanted.length).toBeGreaterThan(0);
    for (const pair of wanted) expect(known).toContain(pair);
  });

  it('keeps to a lot number, as original or as duplicate', async () => {
    const all = await pairs('per_page=5000');
    for (const { original_id, duplicate_id } of all.slice(0, 10)) {
      expect(await pairs(`lot=${original_id}`)).toEqual(all.filter((row) => row.original_id === original_id));
      expect(await pairs(`lot=${duplicate_id}`)).toEqual(
        all.filter((row) => row.duplicate_id === duplicate_id),
      );
    }
    expect(await pairs('lot=1')).toEqual([]);
    expect((await ask('/korea-duplicates?lot=x')).status).toBe(400);
  });

  it('keeps to pairs found within some minutes', async () => {
    const clock = sandbox.clock;
    const all = await pairs('per_page=5000');
    sandbox.setClock(new Date(clock.getTime() - 3 * 86_400_000));
    const before = new Set((await pairs('per_page=5000')).map((row) => row.duplicate_id));
    sandbox.setClock(clock);
    const late = await pairs('minutes=4320');
    expect(late.length).toBeGreaterThan(0);
    expect(late).toEqual(all.filter((row) => !before.has(row.duplicate_id)));
  });

  it('pages by 1000, at most by 5000', async () => {
    expect((await ask('/korea-duplicates')).body.meta?.per_page).toBe(1000);
    expect((await ask('/korea-duplicates?per_page=5000')).body.meta?.per_page).toBe(5000);
    expect((await ask('/korea-duplicates?per_page=5001')).status).toBe(400);
    const two = await ask('/korea-duplicates?per_page=7&page=2');
    expect(two.body.data).toEqual((await pairs()).slice(7, 14));
  });
});

describe('records of reference lists', () => {
  it.each([
    ['/manufacturers/all', schemas.manufacturer],
    ['/models/48', schemas.model],
    ['/generations/1387', schemas.generation],
    ['/usa/damages', schemas.damage],
    ['/usa/titles', schemas.title],
    ['/usa/states?country=ca', schemas.state],
    ['/usa/cities/44', schemas.city],
    ['/korea-duplicates', schemas.duplicate],
    ['/korea-options', schemas.default_option],
  ] as const)('of %s satisfy the contract and hold nothing else', async (path, schema) => {
    const body: { data?: Json[] } | Json[] = JSON.parse((await ask(path)).text);
    const rows = Array.isArray(body) ? body : (body.data ?? []);
    expect(rows.length).toBeGreaterThan(0);
    const known = Object.keys(schema.shape);
    for (const row of rows) {
      expect(schema.safeParse(row).success).toBe(true);
      expect(Object.keys(row).filter((name) => !known.includes(name))).toEqual([]);
    }
  });
});
