import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fault, FaultRule } from '../../src/sandbox/index.js';
import { recordsOf } from '../served.js';
import { expectVehicle, unmet } from './record-oracle.js';
import { activeIn, differences, type Lake, rowsOf, type Stage, setUp } from './world-oracle.js';

const CLOCK = new Date('2026-11-18T02:00:00Z');

describe('members of records', () => {
  let stage: Stage;
  let ids: readonly number[];
  const match = { path: '/cars' };
  beforeAll(async () => {
    stage = await setUp({ vehicles: 120, seed: 17, clock: CLOCK }, { referenceDays: 0 });
    ids = stage.sandbox.world.activeIds();
  });
  afterAll(() => stage.close());

  const retyped = [
    { what: 'bid-object', page: 1, path: 'lots[].bid', column: 'bid' },
    { what: 'bad-timestamp', page: 2, path: 'lots[].updated_at', column: 'updated_at' },
    { what: 'id-text', page: 3, path: 'id', column: null },
  ] as const;
  const retype = (what: (typeof retyped)[number]['what'], every: number): Fault => ({
    kind: 'retyped-members',
    what,
    every,
  });

  it('that change their type become rejects with their place, and everything else loads', async () => {
    stage.sandbox.setFaults([
      ...retyped.map(({ what, page }) => ({ match: { path: '/cars', page }, fault: retype(what, 4) })),
      { match: { path: '/archived-lots' }, fault: retype('bad-timestamp', 5) },
      // Fewer than a fifth of a list: a run that rejects more of one is held.
      { match: { path: '/statistics' }, fault: retype('id-text', 6) },
      { match: { path: '/usa/titles' }, fault: retype('id-text', 6) },
    ]);
    const { result } = await stage.night();
    const lake = await stage.lake();
    const rejects = rowsOf(lake, 'rejects');
    const hit = retyped.flatMap(({ what, page, path, column }) => {
      const found = rejects.filter((row) => row.stream === 'cars' && row.page === page);
      const expected = ids.slice((page - 1) * 20, page * 20).filter((_, place) => place % 4 === 0);
      const places = new Set(found.map((row) => Number(row.position)));
      expect([...places].sort((x, y) => x - y)).toEqual([0, 4, 8, 12, 16]);
      expect([...new Set(found.map((row) => row.record_id))].sort()).toEqual(
        expected.map((id) => (what === 'id-text' ? `no-${id}` : String(id))).sort(),
      );
      for (const row of found) {
        expect(String(row.path).replace(/\d+/, '')).toBe(path);
        expect(row.column_name).toBe(column);
      }
      return column === null ? expected : [];
    });
    const values = rejects.filter((row) => row.stream === 'cars' && row.column_name !== null).length;
    expect(result.passes[0]).toMatchObject({
      ...{ records: ids.length, rejected: hit.length, rejectedValues: values },
    });
    const rest = ids.filter((id) => !hit.includes(id));
    expect(activeIn(lake)).toEqual(rest);
    const records = recordsOf(stage.sandbox.world, rest);
    const missing = unmet(records.flatMap(expectVehicle), lake);
    const served = new Map(records.flatMap(({ lots }) => lots).map((lot) => [lot.id, lot]));
    // If a lot has no bid, the text in place of its null is rejected as well, and no value is missing.
    const lacking = rowsOf(lake, 'lots').filter(
      ({ lot_id, rejected }) =>
        rejected !== null && served.get(Number(lot_id))?.[String([rejected].flat()[0])] !== null,
    );
    expect(missing.map(({ key, column, found }) => `${key.lot_id} ${column} ${found}`).sort()).toEqual(
      lacking.map((row) => `${row.lot_id} ${[row.rejected].flat().join()} null`).sort(),
    );
    for (const name of ['archived_lots', 'statistics', 'titles']) {
      const pass = result.passes.find(({ record }) => record.stream === name);
      expect(pass?.rejected, name).toBeGreaterThan(2);
      expect(pass?.loaded, name).toBe((pass?.records ?? 0) - (pass?.rejected ?? 0));
      expect(rejects.filter((row) => row.stream === name).length, name).toBe(pass?.rejected);
    }
  });

  it('that are new are kept in extra, in every stream, and reported', async () => {
    stage.sandbox.setFaults([{ fault: { kind: 'extra-members', every: 3 } }]);
    const { result } = await stage.night({ minutes: 30 });
    expect(result.passes.length).toBe(12);
    expect(result.passes.map((pass) => pass.rejected).filter((rejected) => rejected > 0)).toEqual([]);
    const paths = new Set(result.drift.map((entry) => `${entry.stream} ${entry.path}`));
    const added = ['market_score', 'sale_channels', 'lots[].seller_rating', 'lots[].odometer.reading_source'];
    for (const path of added) expect(paths).toContain(`cars ${path}`);
    for (const pass of result.passes.filter(({ records }) => records > 0))
      expect(paths).toContain(`${pass.record.stream} market_score`);
    const lake = await stage.lake();
    expect(differences(lake, recordsOf(stage.sandbox.world))).toEqual([]);
    const extra = rowsOf(lake, 'vehicles').filter((row) => row.extra !== null);
    expect(JSON.parse(String(extra[0]?.extra))).toEqual({
      market_score: 0.87,
      sale_channels: [{ key: 'online', open: true }],
    });
    const changed = ids.filter((_, place) => (place % 20) % 3 === 0);
    expect(extra.map((row) => Number(row.vehicle_id)).sort((a, b) => a - b)).toEqual(changed);
  });

  it('that change their type leave the last good values of known records', async () => {
    stage.sandbox.setFaults(
      retyped.map(({ what, page }) => ({ match: { path: '/cars', page }, fault: retype(what, 2) })),
    );
    const { result } = await stage.night({ minutes: 60 });
    expect(result.passes[0]?.rejected).toBe(10);
    expect(result.passes[0]?.rejectedValues).toBeGreaterThanOrEqual(20);
    const lake = await stage.lake();
    expect(activeIn(lake)).toEqual(ids);
    expect(differences(lake, recordsOf(stage.sandbox.world))).toEqual([]);
  });

  it('that change their name are drift, their records load, and renamed lots archive nothing', async () => {
    const renamed = [
      { from: 'vin', to: 'vin_number', table: 'vehicles', column: 'vin', path: 'vin_number' },
      { from: 'lots.bid', to: 'current_bid', table: 'lots', column: 'bid', path: 'lots[].current_bid' },
      { from: 'lots.odometer', to: 'mileage', table: 'lots', column: 'odometer_km', path: 'lots[].mileage' },
    ] as const;
    const lotsOf = (lake: Lake) => rowsOf(lake, 'lots').filter((row) => row.archived === false).length;
    const before = await stage.lake();
    stage.sandbox.setFaults([
      ...renamed.map(({ from, to }): FaultRule => ({ match, fault: { kind: 'renamed-members', from, to } })),
      { match, fault: { kind: 'renamed-members', from: 'lots', to: 'auctions', every: 4 } },
    ]);
    const { result } = await stage.night({ minutes: 90, referenceDays: 7 });
    expect(result.passes[0]).toMatchObject({ rejected: 0 });
    const lake = await stage.lake();
    expect(activeIn(lake)).toEqual(ids);
    expect(lotsOf(lake)).toBe(lotsOf(before));
    expect(result.drift.map((entry) => entry.path)).toContain('auctions');
    const isHidden = (id: number): boolean => (ids.indexOf(id) % 20) % 4 === 0;
    const records = recordsOf(stage.sandbox.world);
    const hidden = records.filter((record) => isHidden(record.id));
    // Lots under another member name keep their rows.
    const kept = hidden.flatMap(expectVehicle).filter(({ table }) => table === 'lots');
    expect(kept.length).toBeGreaterThan(300);
    expect(unmet(kept, lake)).toEqual([]);
    for (const { from, to, table, column, path } of renamed) {
      expect(result.drift.map((entry) => entry.path)).toContain(path);
      const rows = rowsOf(lake, table).filter(
        (row) => table === 'vehicles' || !isHidden(Number(row.vehicle_id)),
      );
      expect(rows.filter((row) => row[column] !== null)).toEqual([]);
      const carriers =
        table === 'vehicles'
          ? records
          : records.filter((record) => !isHidden(record.id)).flatMap((record) => record.lots);
      const member = from.replace('lots.', '');
      const expected = carriers.filter((one) => (one[member] ?? null) !== null);
      const extra = rows.map((row) => JSON.parse(String(row.extra ?? '{}'))[to] ?? null);
      expect(expected.length).toBeGreaterThan(30);
      expect(extra.filter((value) => value !== null).length).toBe(expected.length);
    }
  });
});
