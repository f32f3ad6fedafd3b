import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { MOST_RECORD_BYTES } from '../../src/core/service/scan/scan-page.js';
import { createWorld } from '../../src/sandbox/index.js';
import { bareDuckDb, configFor, serve, silentReporter, temporaryFolder, WITHOUT_MARTS } from './support.js';

const world = createWorld({ vehicles: 60, seed: 9 });
const healthy: readonly string[] = world
  .activeIds()
  .map((id) => world.vehicleJson(id, { pricesHistory: true }) ?? '');
const SIZE = 20;

let folder: ReturnType<typeof temporaryFolder>;
let service: Awaited<ReturnType<typeof serve>>;
let duck: Awaited<ReturnType<typeof bareDuckDb>>;
let records: readonly string[];
let now: number;

beforeEach(async () => {
  folder = temporaryFolder();
  duck = await bareDuckDb();
  records = healthy;
  now = Date.parse('2026-11-18T02:00:00Z');
  service = await serve((url) => {
    if (url.pathname !== '/api/cars') return { status: 404, body: { message: 'not here' } };
    const page = Number(url.searchParams.get('page'));
    const size = Number(url.searchParams.get('per_page'));
    const data = records.slice((page - 1) * size, page * size).join(',');
    const last = Math.ceil(records.length / size);
    const next = page < last ? '"http://service.example/api/cars?page=2"' : null;
    const meta = `{"current_page":${page},"last_page":${last},"per_page":${size},"total":${records.length}}`;
    return { body: `{"data":[${data}],"links":{"next":${next}},"meta":${meta}}` };
  });
});
afterEach(async () => {
  duck.close();
  await service.close();
  folder.remove();
});

const job = () => ({
  config: configFor(service.url, folder.path, { referenceDays: 1000, perPage: SIZE, memory: '700MB' }),
  ...WITHOUT_MARTS,
  reporter: silentReporter(),
  now: () => new Date(now),
});
const night = () => {
  now += 86_400_000;
  return nightly(job());
};
const query = (sql: string) => duck.query(sql.replaceAll('$lake', join(folder.path, 'lake', 'current')));
const active = async () =>
  (await query("select vehicle_id from '$lake/vehicles/*.parquet' where not archived order by 1")).map(
    (row) => row.vehicle_id,
  );

/** The healthy records, with changes at some positions. */
const withChanges = (changes: Readonly<Record<number, (record: string) => string>>): string[] =>
  healthy.map((record, i) => changes[i]?.(record) ?? record);

/** A record with many more lots. */
function withLots(record: string, bytes: number): string {
  const vehicle = JSON.parse(record);
  const lot = JSON.stringify(vehicle.lots[0]);
  vehicle.lots = [];
  const lots = Array.from({ length: Math.ceil(bytes / lot.length) }, () => lot);
  return JSON.stringify(vehicle).replace('"lots":[]', `"lots":[${lots.join(',')}]`);
}

const withTitle = (record: string, title: string): string => JSON.stringify({ ...JSON.parse(record), title });

/** A record whose id is its last member. */
function titleFirst(record: string, title: string): string {
  const { id, title: _, ...rest } = JSON.parse(record);
  return JSON.stringify({ title, ...rest, id });
}

describe('a record that is too large to be loaded', () => {
  it('is rejected as one record, and the others of its page arrive', async () => {
    await night();
    records = withChanges({
      5: (record) => withLots(record, 50e6),
      6: (record) => withTitle(record, 'a title that is new'),
      25: (record) => withTitle(record, 'x'.repeat(70e6)),
      45: (record) => titleFirst(record, 'y'.repeat(50e6)),
    });
    const ids = healthy.map((record) => JSON.parse(record).id);
    const before = await query(
      `select * exclude (run_id) from '$lake/vehicles/*.parquet' where vehicle_id in (${ids[5]}, ${ids[25]})`,
    );
    const { passes } = await night();
    expect(passes[0]).toMatchObject({ records: healthy.length, loaded: healthy.length - 3, rejected: 3 });
    const rejects =
      "select * exclude (pass_id, run_id) from '$lake/rejects/*.parquet' order by page, position";
    const found = await query(rejects);
    // The second night is a delta, whose files begin with these records.
    const place = { stream: 'cars', list: '', position: 0, path: '', table_name: null };
    const expected = `a record of at most ${MOST_RECORD_BYTES} bytes`;
    expect(found).toMatchObject([
      { ...place, page: 1, record_id: String(ids[5]), expected },
      { ...place, page: 2, record_id: String(ids[25]), expected },
      { ...place, page: 3, record_id: null, expected },
    ]);
    for (const [i, at] of [5, 25, 45].entries()) {
      const record = records[at] ?? '';
      expect(found[i]?.found).toBe(`record of ${record.length} bytes`);
      expect(found[i]?.raw).toBe(record.slice(0, 1000));
    }
    expect(await query(`select title from '$lake/vehicles/*.parquet' where vehicle_id = ${ids[6]}`)).toEqual([
      { title: 'a title that is new' },
    ]);
    expect(await active()).toEqual(world.activeIds());
    const after = await query(
      `select * exclude (run_id) from '$lake/vehicles/*.parquet' where vehicle_id in (${ids[5]}, ${ids[25]})`,
    );
    expect(after).toEqual(before);
    await rebuild(job());
    expect(await query(rejects)).toEqual(found);
    expect(await active()).toEqual(world.activeIds());
  }, 120_000);

  it('is loaded if it is just within the limit, however many there are', async () => {
    const large = (record: string): string => {
      const missing = MOST_RECORD_BYTES - withTitle(record, '').length;
      return withTitle(record, 'z'.repeat(missing));
    };
    records = withChanges(Object.fromEntries([2, 3, 7, 22, 23, 41, 47].map((i) => [i, large])));
    const { passes } = await night();
    expect(passes[0]).toMatchObject({ loaded: healthy.length, rejected: 0 });
    expect(await active()).toEqual(world.activeIds());
    const titles = await query("select count(*) as n from '$lake/vehicles/*.parquet' where len(title) > 1e6");
    expect(titles).toEqual([{ n: 7 }]);
  }, 120_000);
});
