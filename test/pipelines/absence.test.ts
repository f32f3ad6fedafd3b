import { afterEach, describe, expect, it } from 'vitest';
import { firstLot, need, vehicleAt } from '../served.js';
import { feed, vehicles } from './feed.js';
import { UNREADABLE_LIST } from './support.js';

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

const ids = (given: readonly { id: number }[]): number[] => given.map((vehicle) => vehicle.id);

describe('a night archives', () => {
  it('no vehicle that may be the one of a record with an unreadable id', async () => {
    const { night, active, query } = await feed(cleanups);
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
    const { night, active, query } = await feed(cleanups);
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
    const { night, active } = await feed(cleanups);
    await night(vehicles);
    const { warnings } = await night(vehicles.slice(0, 190), { total: vehicles.length });
    expect(warnings.join()).toContain('does not prove all: page 4 holds 40 records where 50 belong');
    expect(await active()).toEqual(ids(vehicles));
  });

  it('nothing if too much of a source would go at once, and is held', async () => {
    const { night, active } = await feed(cleanups);
    await night(vehicles);
    const rest = vehicles.filter((_, i) => i % 3 !== 0);
    await expect(night(rest)).rejects.toMatchObject({ code: 'RECONCILE_SHRINK', outcome: 'held' });
    expect(await active()).toEqual(ids(vehicles));
    const { warnings } = await night(rest, { allowShrink: true });
    expect(warnings.join()).toContain('archived past the shrink guard');
    expect(await active()).toEqual(ids(rest));
  });

  it('no vehicle whose record was rejected', async () => {
    const { night, active, query } = await feed(cleanups);
    await night(vehicles);
    const broken = vehicles.map((vehicle, i) =>
      i === 7 ? { ...vehicle, listings: UNREADABLE_LIST } : vehicle,
    );
    await night(broken);
    expect(await active()).toEqual(ids(vehicles));
    expect(await query("select path from '$lake/rejects/*.parquet'")).toEqual([{ path: '' }]);
  });

  it('no lot of a source from which the feed brought nothing', async () => {
    const { night, query } = await feed(cleanups);
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
    const { night, query } = await feed(cleanups);
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
    const { night, active, query } = await feed(cleanups);
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
    const { night, query } = await feed(cleanups);
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
