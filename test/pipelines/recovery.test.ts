import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBConnection } from '@duckdb/node-api';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import type { ConfigInput } from '../../src/base/config/config.js';
import { createWorld } from '../../src/sandbox/index.js';
import { firstLot, lotAt, need, recordsOf, vehicleAt } from '../served.js';
import {
  bareDuckDb,
  configFor,
  type PlainRow,
  readLake,
  serve,
  silentReporter,
  temporaryFolder,
  WITHOUT_MARTS,
} from './support.js';

const world = createWorld({ vehicles: 120, seed: 9 });
const vehicles = recordsOf(world);
const START = Date.parse('2026-11-18T02:00:00Z');
const SIZE = 30;

let folder: ReturnType<typeof temporaryFolder>;
let duck: Awaited<ReturnType<typeof bareDuckDb>>;
let service: Awaited<ReturnType<typeof serve>>;
let pages: readonly (readonly unknown[])[];
let now: number;

const inPages = (records: readonly unknown[]): unknown[][] =>
  Array.from({ length: Math.ceil(records.length / SIZE) }, (_, i) => records.slice(i * SIZE, (i + 1) * SIZE));

beforeEach(async () => {
  now = START;
  folder = temporaryFolder();
  duck = await bareDuckDb();
  service = await serve((url) => {
    if (url.pathname !== '/api/cars') return { status: 404, body: { message: 'not here' } };
    const page = Number(url.searchParams.get('page'));
    // The request for the total asks for one record.
    const total = pages.reduce((sum, records) => sum + records.length, 0);
    const next = page < pages.length ? `http://service.example/api/cars?page=${page + 1}` : null;
    return {
      body: {
        data: pages[page - 1] ?? [],
        links: { next },
        meta: { current_page: page, last_page: pages.length, per_page: SIZE, total },
      },
    };
  });
});
afterEach(async () => {
  duck.close();
  await service.close();
  folder.remove();
});

const job = (more: ConfigInput = {}) => ({
  config: configFor(service.url, folder.path, {
    referenceDays: 1000,
    concurrency: 1,
    perPage: SIZE,
    ...more,
  }),
  ...WITHOUT_MARTS,
  reporter: silentReporter(),
  now: () => new Date(now),
});
const night = (records: readonly (readonly unknown[])[], more: ConfigInput = {}) => {
  pages = records;
  const run = job(more);
  return nightly(run).finally(() => {
    now += 86_400_000;
  });
};
const query = (sql: string) => duck.query(sql.replaceAll('$lake', join(folder.path, 'lake', 'current')));
const active = async () =>
  (await query("select vehicle_id from '$lake/vehicles/*.parquet' where not archived order by 1")).map(
    (row) => row.vehicle_id,
  );
const ids = vehicles.map((vehicle) => vehicle.id);

it('a night loads changes after a night whose clock was half an hour ahead', async () => {
  now = START + 1_800_000;
  await night(inPages(vehicles));
  now = START + 60_000;
  const [, ...others] = vehicles;
  const first = vehicleAt(vehicles, 0);
  await night(inPages([{ ...first, title: 'since then' }, ...others]));
  const title = await query(`select title from '$lake/vehicles/*.parquet' where vehicle_id = ${first.id}`);
  expect(title).toEqual([{ title: 'since then' }]);
});

describe('a rebuild', () => {
  it('does not replay a night that the guard held, and the next night starts a new pass', async () => {
    await night(inPages(vehicles));
    await expect(night(inPages(vehicles.slice(0, 60)))).rejects.toMatchObject({ outcome: 'held' });
    await rebuild(job());
    expect(await active()).toEqual(ids);
    const before = service.requests.length;
    now -= 86_400_000 - 3_600_000;
    await night(inPages(vehicles));
    expect(service.requests.slice(before).some((path) => path.startsWith('/api/cars?'))).toBe(true);
    expect(await active()).toEqual(ids);
  }, 60_000);

  it('refuses a pass that lost a page, and keeps the snapshot', async () => {
    await night(inPages(vehicles));
    const landing = join(folder.path, 'landing', 'cars');
    const pass = join(landing, readdirSync(landing)[0] ?? '');
    rmSync(join(pass, 'page-000002.ndjson.gz'));
    await expect(rebuild(job())).rejects.toMatchObject({ code: 'LAND_FAILED' });
    await expect(rebuild(job())).rejects.toThrow(/3 of its 4 pages/);
    expect(await active()).toEqual(ids);
  });

  it('repairs a lake whose manifest is broken', async () => {
    await night(inPages(vehicles));
    writeFileSync(join(folder.path, 'lake', 'current', 'manifest.json'), '{');
    await expect(night(inPages(vehicles))).rejects.toMatchObject({ code: 'LAKE_UNSOUND' });
    await rebuild(job());
    expect(await active()).toEqual(ids);
  });

  it('keeps what only the published snapshot knows', async () => {
    const flagged = need(
      vehicles.find((vehicle) => vehicle.lots.length === 1 && firstLot(vehicle).archived === undefined),
      'a vehicle with one lot that does not say whether it is archived',
    );
    const lot = firstLot(flagged);
    const first = vehicles.map((vehicle) =>
      vehicle === flagged ? { ...vehicle, lots: [{ ...lot, archived: true }] } : vehicle,
    );
    // The second pass holds every record as well.
    for (const pages of [inPages(first), inPages(vehicles)]) await night(pages, { keyframeDays: 0 });
    const state = `select archived, first_seen_at, changed_at from '$lake/lots/**/*.parquet' where lot_id = ${lot.id}`;
    const before = await query(state);
    expect(before).toMatchObject([{ archived: true }]);
    const landing = join(folder.path, 'landing', 'cars');
    rmSync(join(landing, readdirSync(landing)[0] ?? ''), { recursive: true });
    await rebuild(job());
    expect(await query(state)).toEqual(before);
  });
});

describe('a pass', () => {
  it('that received a vehicle twice takes the last copy, and loses no images or prices', async () => {
    const vehicle = need(
      vehicles.find((one) => one.lots.length === 1 && (firstLot(one).prices ?? []).length > 0),
      'a vehicle with one lot that has prices',
    );
    const lot = firstLot(vehicle);
    await night(inPages(vehicles));
    const rest = vehicles.filter((one) => one !== vehicle);
    const pagesOf = inPages(rest);
    // The last page is read before the second, so the older version comes first.
    const last = [...(pagesOf.at(-1) ?? []), { ...vehicle, title: 'older', lots: [{ ...lot, prices: [] }] }];
    const second = [{ ...vehicle, title: 'newer' }, ...(pagesOf[1] ?? [])];
    await night([pagesOf[0] ?? [], second, ...pagesOf.slice(2, -1), last]);
    expect(
      await query(`select title from '$lake/vehicles/*.parquet' where vehicle_id = ${vehicle.id}`),
    ).toEqual([{ title: 'newer' }]);
    expect(
      await query(
        `select count(*) as n from '$lake/prices/**/*.parquet' where lot_id = ${lot.id} and gone_at is null`,
      ),
    ).toEqual([{ n: lot.prices?.length }]);
  });
});

describe('odd values', () => {
  it('are loaded or rejected, and never end the run', async () => {
    const odd = structuredClone(vehicles.slice(0, 20));
    Object.assign(vehicleAt(odd, 1), { year: '02020' });
    Object.assign(vehicleAt(odd, 2), { filename: 'x' });
    Object.assign(lotAt(odd, 3), { seller_object: { a: 1 } });
    Object.assign(lotAt(odd, 4), { '*': 1 });
    Object.assign(vehicleAt(odd, 5), { 'with\u0000zero': 1 });
    Object.assign(lotAt(odd, 6), { sale_date: '2026-01-01T10:00Z' });
    Object.assign(lotAt(odd, 7), { bid: '007.50' });
    const { passes } = await night([odd]);
    expect(passes[0]).toMatchObject({ records: 20, loaded: 20, rejected: 0, rejectedValues: 3 });
    const paths = await query("select path from '$lake/rejects/*.parquet' order by position");
    expect(paths.map((row) => row.path)).toEqual(['year', 'lots[0].sale_date', 'lots[0].bid']);
    const extra = await query(
      `select extra from '$lake/lots/**/*.parquet' where lot_id = ${lotAt(odd, 3).id}`,
    );
    expect(JSON.parse(String(extra[0]?.extra))).toEqual({ seller_object: { a: 1 } });
  });
});

const withoutRun = (rows: readonly PlainRow[] = []) => rows.map(({ run_id: _, ...row }) => row);

describe('a batch that does not fit into memory', () => {
  afterEach(() => vi.restoreAllMocks());

  it('is loaded page by page while no other is loading, with a warning', async () => {
    pages = inPages(vehicles);
    await nightly(job());
    const expected = await readLake(join(folder.path, 'lake', 'current'));
    rmSync(folder.path, { recursive: true });

    const batches: string[] = [];
    const run = DuckDBConnection.prototype.run;
    vi.spyOn(DuckDBConnection.prototype, 'run').mockImplementation(async function (
      this: DuckDBConnection,
      ...given: Parameters<typeof run>
    ) {
      const [sql] = given;
      const staged = / to '[^']*stage\/lots\/([^/']+)\.parquet'/.exec(sql)?.[1];
      if (!sql.startsWith('copy') || staged === undefined) return run.apply(this, given);
      batches.push(staged);
      if (batches.length > 1) return run.apply(this, given);
      await run.apply(this, [sql.split(';\n').slice(0, 5).join(';\n')]);
      throw new Error('Out of Memory Error: failed to allocate data of size 16.0 MiB');
    });
    const { warnings, balance } = await nightly(job());
    expect(warnings).toContainEqual(
      expect.stringMatching(/^1 of 1 batches of \/cars did not fit into memory/),
    );
    expect(batches).toEqual([batches[0], ...pages.map((_, i) => `${batches[0]}-${i}`)]);
    expect(balance.streams[0]).toMatchObject({ landed: vehicles.length, loaded: vehicles.length });
    const found = await readLake(join(folder.path, 'lake', 'current'));
    for (const table of ['vehicles', 'lots', 'prices', 'lot_images', 'checked_items', 'events'])
      expect(withoutRun(found.get(table)), table).toEqual(withoutRun(expected.get(table)));
  });
});
