import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reference } from '../../pipelines/reference.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { type CatalogRecord, recordsOf } from '../served.js';
import { configFor, type PlainRow, silentReporter } from './support.js';
import { activeIn, differences, type Lake, rowsOf, type Stage, setUp, standBetween } from './world-oracle.js';

const CLOCK = new Date('2026-11-18T02:00:00Z');
const daysOn = (days: number): Date => new Date(CLOCK.getTime() + days * 86_400_000);

type Service = Pick<Sandbox, 'url' | 'apiKey'>;

/** All records of a list, fetched up to the last page that it names. */
async function listOf(service: Service, path: string): Promise<CatalogRecord[]> {
  const records: CatalogRecord[] = [];
  for (let page = 1, last = 1; page <= last; page++) {
    const join = path.includes('?') ? '&' : '?';
    const answer = await fetch(`${service.url}${path}${join}page=${page}`, {
      headers: { 'x-api-key': service.apiKey },
    });
    expect(answer.status, path).toBe(200);
    const body: CatalogRecord[] | { data: CatalogRecord[]; meta: { last_page: number } } = JSON.parse(
      await answer.text(),
    );
    if (Array.isArray(body)) return body;
    records.push(...body.data);
    last = body.meta.last_page;
  }
  return records;
}

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Rows that every reference table of the lake must have. `isWanted` chooses the branches of the catalog. */
async function expectedTables(
  service: Service,
  isWanted: (row: CatalogRecord) => boolean = (row) => row.cars_qty !== 0,
): Promise<Record<string, Rows>> {
  const makers = await listOf(service, '/manufacturers/all');
  const models: CatalogRecord[] = [];
  for (const maker of makers.filter(isWanted))
    models.push(...(await listOf(service, `/models/${maker.id}/all`)));
  const generations: CatalogRecord[] = [];
  for (const model of models.filter(isWanted)) {
    const lists = await Promise.all(
      ['cars', 'motorcycles'].map((type) => listOf(service, `/generations/${model.id}/${type}`)),
    );
    generations.push(...lists.flat());
  }
  const states: CatalogRecord[] = [];
  for (const country of ['us', 'ca'])
    for (const state of await listOf(service, `/usa/states?country=${country}`))
      states.push({ country, ...state });
  const cities: CatalogRecord[] = [];
  for (const { id } of states)
    for (const city of await listOf(service, `/usa/cities/${id}`)) cities.push({ of: id, ...city });
  const titles = await listOf(service, '/usa/titles');
  const damages = await listOf(service, '/usa/damages');
  const duplicates = await listOf(service, '/korea-duplicates?per_page=5000');
  const options = await listOf(service, '/korea-options');
  return {
    manufacturers: makers.map(({ id, name, cars, motorcycles, cars_qty, models_qty, image }) => ({
      manufacturer_id: id,
      name,
      cars,
      motorcycles,
      cars_qty,
      models_qty,
      image,
    })),
    models: models.map(({ id, manufacturer_id, name, vehicle_type, cars_qty, generations_qty }) => ({
      model_id: id,
      manufacturer_id,
      name,
      vehicle_type_id: vehicle_type?.id ?? null,
      vehicle_type_name: vehicle_type?.name ?? null,
      cars_qty,
      generations_qty,
    })),
    generations: generations.map(({ id, ...rest }) => ({ generation_id: id, ...rest })),
    damages: damages.map(({ id, name, code = null }) => ({ damage_id: String(id), name, code })),
    titles: titles.map(({ id, name, code = null }) => ({ title_id: id, name, code })),
    states: states.map(({ country, id, name, code, state_code }) => ({
      country,
      state_id: id,
      name,
      code: code ?? state_code,
    })),
    cities: cities.map(({ of, id, name, state_id = of, code = null }) => ({
      state_id,
      city_id: id,
      name,
      code,
    })),
    duplicates: duplicates.map(({ duplicate_id, original_id }) => ({
      duplicate_id: String(duplicate_id),
      original_id: String(original_id),
    })),
    default_options: options.map(({ id, ...rest }) => ({
      default_option_id: id,
      location: null,
      description: null,
      image: null,
      ...rest,
    })),
  };
}

/** Columns that lotlake adds to every row. */
const OWN = new Set(['extra', 'rejected', 'gone_at', 'first_seen_at', 'changed_at', 'run_id']);

const sortedText = (rows: Rows): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();

/** Some of the rows that only one side has. */
function unequal(stored: Rows, expected: Rows): string[] {
  const [left, right] = [sortedText(stored), sortedText(expected)];
  const [some, others] = [new Set(left), new Set(right)];
  return [
    ...left.filter((row) => !others.has(row)).map((row) => `too many: ${row}`),
    ...right.filter((row) => !some.has(row)).map((row) => `missing: ${row}`),
    ...(left.length === right.length ? [] : [`${left.length} rows, not ${right.length}`]),
  ].slice(0, 4);
}

/** The rows of a table without lotlake's own columns. */
const contentOf = (lake: Lake, table: string): Rows =>
  rowsOf(lake, table).map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !OWN.has(name))),
  );

const column = (rows: readonly PlainRow[], name: string): unknown[] => [
  ...new Set(rows.map((row) => row[name])),
];

const catalogAsked = (sandbox: Sandbox, since = 0): string[] =>
  sandbox.requests
    .slice(since)
    .map((one) => one.path)
    .filter((path) => /^\/(manufacturers|models|generations|usa|korea)/.test(path));

const stageOf = (vehicles: number): Promise<Stage> =>
  setUp({ vehicles, seed: 31, clock: CLOCK, catalog: true }, { perPage: 100 });

const runReference = (stage: Stage, { url = stage.sandbox.url, everything = false } = {}) =>
  reference({
    config: configFor(url, stage.output),
    reporter: silentReporter(),
    now: () => stage.sandbox.clock,
    everything,
  });

/** Tables of the catalog and the reference lists. */
const TABLES = [
  'manufacturers',
  'models',
  'generations',
  'damages',
  'titles',
  'states',
  'cities',
  'duplicates',
  'default_options',
] as const;

describe('nights over the catalog and the reference lists', () => {
  let stage: Stage;
  let lake: Lake;
  let expected: Record<string, Rows>;
  beforeAll(async () => {
    stage = await stageOf(250);
    await stage.night();
    lake = await stage.lake();
  });
  afterAll(() => stage.close());

  it('request nothing that has no vehicle in the catalog, and no list twice', async () => {
    const requested = catalogAsked(stage.sandbox);
    expected = await expectedTables(stage.sandbox);
    const idle = (expected.manufacturers ?? []).filter((row) => row.cars_qty === 0);
    expect(idle.length).toBeGreaterThan(100);
    for (const { manufacturer_id } of idle) expect(requested).not.toContain(`/models/${manufacturer_id}/all`);
    for (const { model_id, cars_qty } of expected.models ?? []) {
      const lists = requested.filter((path) => path.startsWith(`/generations/${model_id}/`));
      if (cars_qty === 0) expect(lists).toEqual([]);
    }
    const queries = stage.sandbox.requests
      .slice(0, requested.length * 2)
      .map((one) => `${one.path}?${one.query}`);
    const known = queries.filter((query) => /^\/(manufacturers|models|generations|usa|korea)/.test(query));
    expect(new Set(known.slice(0, requested.length)).size).toBe(requested.length);
  });

  it.each(TABLES)('give every column of every row of %s', (table) => {
    const rows = expected[table] ?? [];
    expect(rows.length).toBeGreaterThan(0);
    const stored = contentOf(lake, table);
    expect(Object.keys(stored[0] ?? {}).sort()).toEqual(Object.keys(rows[0] ?? {}).sort());
    expect(unequal(stored, rows)).toEqual([]);
    expect(column(rowsOf(lake, table), 'extra')).toEqual([null]);
    if ('gone_at' in (rowsOf(lake, table)[0] ?? {}))
      expect(column(rowsOf(lake, table), 'gone_at')).toEqual([null]);
  });

  it('load the feed as well', () => {
    expect(differences(lake, recordsOf(stage.sandbox.world))).toEqual([]);
  });

  it('read the lists again only when they are older than configured, and keep their rows meanwhile', async () => {
    const { sandbox } = stage;
    sandbox.setClock(daysOn(6));
    let sent = sandbox.requests.length;
    const { result } = await stage.night();
    expect(catalogAsked(sandbox, sent)).toEqual([]);
    expect(result.passes.map((pass) => pass.record.stream)).toEqual(['cars', 'archived_lots', 'statistics']);
    const kept = await stage.lake();
    for (const table of Object.keys(expected))
      expect(rowsOf(kept, table), table).toEqual(rowsOf(lake, table));

    sandbox.setClock(daysOn(8));
    sent = sandbox.requests.length;
    await stage.night();
    expect(new Set(catalogAsked(sandbox, sent).map((path) => path.split('/')[1]))).toEqual(
      new Set(['manufacturers', 'models', 'generations', 'usa', 'korea-duplicates', 'korea-options']),
    );
    const later = await stage.lake();
    const now = await expectedTables(sandbox);
    for (const table of ['manufacturers', 'damages', 'titles', 'states', 'cities', 'default_options'])
      expect(unequal(contentOf(later, table), now[table] ?? []), table).toEqual([]);
    // The lake keeps what it knew of branches that are no longer walked.
    for (const table of ['models', 'generations']) {
      const stored = new Set(sortedText(contentOf(later, table)));
      expect(
        sortedText(now[table] ?? []).filter((row) => !stored.has(row)),
        table,
      ).toEqual([]);
      const key = table === 'models' ? 'model_id' : 'generation_id';
      const known = new Set([...(expected[table] ?? []), ...(now[table] ?? [])].map((row) => row[key]));
      const keys = rowsOf(later, table).map((row) => row[key]);
      expect([new Set(keys).size, keys.length], table).toEqual([known.size, known.size]);
    }
    const pairs = rowsOf(later, 'duplicates').filter((row) => row.gone_at === null);
    const there = pairs.map(({ duplicate_id, original_id }) => ({ duplicate_id, original_id }));
    expect(unequal(there, now.duplicates ?? [])).toEqual([]);
  });
});

describe('run reference', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await stageOf(100);
  });
  afterAll(() => stage.close());

  it('fills the tables, and the next night does not read them again', async () => {
    const result = await runReference(stage);
    expect(result.passes.length).toBe(9);
    expect(result.passes.filter((pass) => !pass.record.complete || pass.rejected > 0)).toEqual([]);
    const lake = await stage.lake();
    const expected = await expectedTables(stage.sandbox);
    for (const [table, rows] of Object.entries(expected))
      expect(unequal(contentOf(lake, table), rows), table).toEqual([]);
    stage.sandbox.setClock(daysOn(1));
    const sent = stage.sandbox.requests.length;
    await stage.night();
    expect(catalogAsked(stage.sandbox, sent)).toEqual([]);
    const after = await stage.lake();
    expect(rowsOf(after, 'models')).toEqual(rowsOf(lake, 'models'));
    expect(differences(after, recordsOf(stage.sandbox.world))).toEqual([]);
  });

  it('reads everything on request, and does not change the vehicles', async () => {
    const vehicles = rowsOf(await stage.lake(), 'vehicles');
    const makers = await listOf(stage.sandbox, '/manufacturers/all');
    const idle = makers.filter((maker) => maker.cars_qty === 0);
    // The catalog of a service with fewer manufacturers, because a full one takes thousands of requests.
    const chosen = [
      ...makers.filter((maker) => maker.cars_qty !== 0 && Number(maker.models_qty) < 12).slice(0, 2),
      ...idle.filter((maker) => maker.motorcycles && maker.cars).slice(0, 1),
      ...idle.filter((maker) => maker.motorcycles && !maker.cars).slice(0, 2),
      ...idle.filter((maker) => !maker.motorcycles).slice(0, 4),
    ];
    const small = await standBetween(stage.sandbox, (url) =>
      url.pathname === '/api/manufacturers/all'
        ? { status: 200, body: { data: chosen, links: {}, meta: { last_page: 1, total: chosen.length } } }
        : url,
    );
    const service = { url: small.url, apiKey: stage.sandbox.apiKey };
    await runReference(stage, { url: small.url, everything: true });
    const expected = await expectedTables(service, () => true);
    await small.close();
    const lake = await stage.lake();
    const ids = new Set<unknown>(chosen.map((maker) => maker.id));
    expect(ids.size).toBeGreaterThan(6);
    for (const table of ['manufacturers', 'models', 'generations']) {
      const stored = contentOf(lake, table).filter((row) => ids.has(row.manufacturer_id));
      expect(unequal(stored, expected[table] ?? []), table).toEqual([]);
      const idleRows = stored.filter((row) => row.cars_qty === 0);
      expect(idleRows.length, table).toBeGreaterThan(4);
    }
    expect(rowsOf(lake, 'vehicles')).toEqual(vehicles);
  });
});

describe('a service without reference lists', () => {
  it('is reported, the rest of the night continues, and no known row is gone', async () => {
    const stage = await stageOf(60);
    const poor = await standBetween(stage.sandbox, (url) =>
      /\/api\/(manufacturers|models|generations|usa|korea)/.test(url.pathname)
        ? { status: 404, body: { message: 'no such endpoint' } }
        : url,
    );
    const paths = [
      '/manufacturers',
      '/usa/damages',
      '/usa/titles',
      '/usa/states',
      '/korea-duplicates',
      '/korea-options',
    ];
    try {
      await stage.night();
      const full = await stage.lake();
      stage.sandbox.setClock(daysOn(8));
      const { warnings } = await stage.night({ url: poor.url });
      const skipped = (path: string) =>
        warnings.filter(
          (one) => one.startsWith(`${path} is skipped: not found (404)`) && one.includes('no such endpoint'),
        );
      for (const path of paths) expect(skipped(path).length, path).toBe(1);
      expect(warnings.length).toBe(paths.length);
      const kept = await stage.lake();
      for (const table of TABLES) expect(rowsOf(kept, table), table).toEqual(rowsOf(full, table));
      expect(activeIn(kept)).toEqual(stage.sandbox.world.activeIds());
      expect(differences(kept, recordsOf(stage.sandbox.world), false)).toEqual([]);
    } finally {
      await poor.close();
      await stage.close();
    }
  });
});
