import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { createWorld } from '../../src/sandbox/index.js';
import { firstLot, need, recordsOf, vehicleAt } from '../served.js';
import {
  bareDuckDb,
  configFor,
  serve,
  silentReporter,
  temporaryFolder,
  UNREADABLE_LIST,
  WITHOUT_MARTS,
} from './support.js';

const world = createWorld({ vehicles: 200, seed: 8 });
// Plain lots. The cases in test/reconcile cover the effects of dates, statuses and amounts.
const PLAIN = { sale_date: null, status: { id: 3, name: 'sale' }, bid: 100, buy_now: null, final_bid: null };
const vehicles = recordsOf(world).map((vehicle) => ({
  ...vehicle,
  lots: vehicle.lots.map((lot) => ({ ...lot, ...PLAIN })),
}));
const START = Date.parse('2026-11-18T02:00:00Z');

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

/** A service whose feed the test sets, with totals, and a way to run nights over it. */
async function feed() {
  const folder = temporaryFolder();
  let records: readonly unknown[] = vehicles;
  let total: number | undefined;
  const service = await serve((url) => {
    if (url.pathname !== '/api/cars') return { status: 404, body: { message: 'not here' } };
    const page = Number(url.searchParams.get('page'));
    const size = Number(url.searchParams.get('per_page'));
    const last = Math.max(1, Math.ceil(records.length / size));
    const data = records.slice((page - 1) * size, page * size);
    const next = page < last ? `http://service.example/api/cars?page=${page + 1}` : null;
    return {
      body: {
        data,
        links: { next },
        meta: { current_page: page, last_page: last, per_page: size, total: total ?? records.length },
      },
    };
  });
  const duck = await bareDuckDb();
  cleanups.push(
    () => service.close(),
    () => duck.close(),
    () => folder.remove(),
  );
  let nights = 0;
  return {
    night: async (given: readonly unknown[], more: { total?: number; allowShrink?: boolean } = {}) => {
      records = given;
      total = more.total;
      const now = new Date(START + nights++ * 86_400_000);
      const reporter = silentReporter();
      const config = configFor(service.url, folder.path, {
        allowShrink: more.allowShrink ?? false,
        concurrency: 1,
        perPage: 50,
        referenceDays: 1000,
      });
      const result = await nightly({ ...WITHOUT_MARTS, config, reporter, now: () => now });
      return { result, warnings: reporter.warnings };
    },
    active: async () => {
      const lake = join(folder.path, 'lake', 'current');
      const rows = await duck.query(
        `select vehicle_id from '${lake}/vehicles/*.parquet' where not archived order by 1`,
      );
      return rows.map((row) => row.vehicle_id);
    },
    query: (sql: string) => duck.query(sql.replaceAll('$lake', join(folder.path, 'lake', 'current'))),
  };
}

const ids = (given: readonly { id: number }[]): number[] => given.map((vehicle) => vehicle.id);

describe('a night archives', () => {
  it('no vehicle that may be the one of a record with an unreadable id', async () => {
    const { night, active, query } = await feed();
    await night(vehicles);
    const gone = [10, 71];
    await night(
      vehicles
        .map((vehicle, i) => (i === 70 ? { ...vehicle, id: {} } : vehicle))
        .filter((_, i) => !gone.includes(i)),
    );
    // 70 and 71 stood between 69 and 72; one of them came.
    expect(await active()).toEqual(ids(vehicles.filter((_, i) => i !== 10)));
    expect(await query(`select record_id, path from '$lake/rejects/*.parquet'`)).toEqual([
      { record_id: null, path: 'id' },
    ]);
  });

  it('a vehicle that a complete pass lacks', async () => {
    const { night, active, query } = await feed();
    await night(vehicles);
    const rest = vehicles.filter((_, i) => i % 20 !== 0);
    await night(rest);
    expect(await active()).toEqual(ids(rest));
    const [gone] = await query(
      `select archived_by, last_seen_at from '$lake/vehicles/*.parquet' where vehicle_id = ${vehicleAt(vehicles, 0).id}`,
    );
    expect(gone).toEqual({ archived_by: 'absence', last_seen_at: '2026-11-18 02:00:00+00' });
  });

  it('nothing after a last page that is short of the total', async () => {
    const { night, active } = await feed();
    await night(vehicles);
    const { warnings } = await night(vehicles.slice(0, 190), { total: vehicles.length });
    expect(warnings.join()).toContain('does not prove all: page 4 holds 40 records where 50 belong');
    expect(await active()).toEqual(ids(vehicles));
  });

  it('nothing if too much of a source would go at once, and is held', async () => {
    const { night, active } = await feed();
    await night(vehicles);
    const rest = vehicles.filter((_, i) => i % 3 !== 0);
    await expect(night(rest)).rejects.toMatchObject({ code: 'RECONCILE_SHRINK', outcome: 'held' });
    expect(await active()).toEqual(ids(vehicles));
    const { warnings } = await night(rest, { allowShrink: true });
    expect(warnings.join()).toContain('archived past the shrink guard');
    expect(await active()).toEqual(ids(rest));
  });

  it('no vehicle whose record was rejected', async () => {
    const { night, active, query } = await feed();
    await night(vehicles);
    const broken = vehicles.map((vehicle, i) =>
      i === 7 ? { ...vehicle, listings: UNREADABLE_LIST } : vehicle,
    );
    await night(broken);
    expect(await active()).toEqual(ids(vehicles));
    expect(await query("select path from '$lake/rejects/*.parquet'")).toEqual([{ path: '' }]);
  });

  it('no lot of a source from which the feed brought nothing', async () => {
    const { night, query } = await feed();
    await night(vehicles);
    const without = vehicles.filter(
      ({ lots }) => lots.length > 0 && lots.every((lot) => lot.domain.id !== 12),
    );
    await night(without);
    const active = await query(
      "select count(*) as n from '$lake/lots/**/*.parquet' where domain_id = 12 and archived_by = 'absence'",
    );
    expect(active).toEqual([{ n: 0 }]);
  });

  it('a lot that its vehicle no longer lists', async () => {
    const { night, query } = await feed();
    await night(vehicles);
    const of = need(
      vehicles.find(({ lots }) => lots.length > 1),
      'a vehicle with several lots',
    );
    const [, ...others] = of.lots;
    await night(vehicles.map((vehicle) => (vehicle === of ? { ...vehicle, lots: others } : vehicle)));
    const rows = await query(
      `select lot_id, archived_by from '$lake/lots/**/*.parquet' where vehicle_id = ${of.id} and archived_by = 'absence'`,
    );
    expect(rows).toEqual([{ lot_id: firstLot(of).id, archived_by: 'absence' }]);
  });
});

describe('a vehicle that comes back', () => {
  it('is active again, and lot_changes shows the gap', async () => {
    const { night, active, query } = await feed();
    const back = need(
      vehicles.find((vehicle) => vehicle.lots.length === 1 && firstLot(vehicle).archived !== true),
      'a vehicle with one active lot',
    );
    await night(vehicles);
    await night(vehicles.filter((vehicle) => vehicle !== back));
    expect(await active()).not.toContain(back.id);
    await night(vehicles);
    expect(await active()).toContain(back.id);
    const changes = await query(
      `select old_value, new_value from '$lake/lot_changes/**/*.parquet' where lot_id = ${firstLot(back).id} and field = 'archived' order by seen_at`,
    );
    expect(changes).toEqual([
      { old_value: 'false', new_value: 'true' },
      { old_value: 'true', new_value: 'false' },
    ]);
  });

  it('keeps the archived flag of the feed if the member is missing later', async () => {
    const { night, query } = await feed();
    const { archived: _, archived_at: __, ...lot } = firstLot(vehicleAt(vehicles, 3));
    const withLot = (given: object) =>
      vehicles.map((vehicle, i) =>
        i === 3 ? { ...vehicle, lots: [given, ...vehicle.lots.slice(1)] } : vehicle,
      );
    const stored = () =>
      query(`select archived, archived_by from '$lake/lots/**/*.parquet' where lot_id = ${lot.id}`);
    await night(withLot({ ...lot, archived: true }));
    await night(withLot(lot));
    expect(await stored()).toEqual([{ archived: true, archived_by: 'feed' }]);
    await night(withLot({ ...lot, archived: false }));
    expect(await stored()).toEqual([{ archived: false, archived_by: null }]);
  });
});
