import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import type { RunResult } from '../../src/core/publish/step.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { recordsOf, type VehicleRecord } from '../served.js';
import { expectArchivedLot, expectVehicle, unmet } from './record-oracle.js';
import {
  configFor,
  inOrder,
  type PlainRow,
  readLake,
  serve,
  silentReporter,
  temporaryFolder,
  WITHOUT_MARTS,
} from './support.js';

const FIRST = new Date('2026-11-18T02:00:00Z');
const SECOND = new Date('2026-11-20T02:00:00Z');

describe('two nights over a world that changes', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let first: RunResult;
  let firstLake: Map<string, PlainRow[]>;
  let secondLake: Map<string, PlainRow[]>;
  let before: readonly VehicleRecord[];
  let after: readonly VehicleRecord[];
  const current = join(folder.path, 'lake', 'current');
  const night = (now: Date) => {
    sandbox.setClock(now);
    const config = configFor(sandbox.url, folder.path, { perPage: 150 });
    return nightly({ ...WITHOUT_MARTS, config, reporter: silentReporter(), now: () => now });
  };

  beforeAll(async () => {
    sandbox = await startSandbox({ vehicles: 600, seed: 11, clock: FIRST });
    first = await night(FIRST);
    before = recordsOf(sandbox.world);
    firstLake = await readLake(current);
    await night(SECOND);
    after = recordsOf(sandbox.world);
    secondLake = await readLake(current);
  }, 240_000);

  afterAll(async () => {
    await sandbox.close();
    folder.remove();
  });

  it('load every value of the world, in every table', () => {
    for (const [records, lake] of [
      [before, firstLake],
      [after, secondLake],
    ] as const) {
      const expectations = records.flatMap(expectVehicle);
      const tables = new Set(expectations.map((e) => e.table));
      expect(tables.size).toBe(18);
      expect(unmet(expectations, lake).slice(0, 5)).toEqual([]);
    }
  });

  it('load every value of the archive feed', () => {
    const world = sandbox.world;
    const archived = world
      .at(FIRST)
      .archivedLotIds()
      .map((id) => world.at(FIRST).archivedLot(id));
    const expectations = archived.flatMap((record) => expectArchivedLot(JSON.parse(JSON.stringify(record))));
    expect(expectations.length).toBeGreaterThan(500);
    expect(unmet(expectations, firstLake).slice(0, 5)).toEqual([]);
  });

  it('have no surplus row', () => {
    const ids = (records: typeof before) => records.map((vehicle) => vehicle.id).sort((a, b) => a - b);
    const stored = (lake: typeof firstLake, where: (row: PlainRow) => boolean) =>
      (lake.get('vehicles') ?? [])
        .filter(where)
        .map((row) => Number(row.vehicle_id))
        .sort((a, b) => a - b);
    expect(stored(firstLake, () => true)).toEqual(ids(before));
    expect(stored(secondLake, (row) => row.archived === false)).toEqual(ids(after));
    expect(stored(secondLake, () => true)).toEqual(
      [...new Set([...ids(before), ...ids(after)])].sort((a, b) => a - b),
    );
  });

  it('archive what left the feed, with its last values kept', () => {
    const there = new Set(after.map((vehicle) => vehicle.id));
    const left = before.filter((vehicle) => !there.has(vehicle.id));
    expect(left.length).toBeGreaterThan(5);
    const rows = new Map((secondLake.get('vehicles') ?? []).map((row) => [row.vehicle_id, row]));
    for (const vehicle of left) {
      const row = rows.get(vehicle.id);
      expect(row).toMatchObject({ archived: true, title: vehicle.title ?? null });
      expect(['absence', 'archive-feed', 'feed']).toContain(row?.archived_by);
    }
    const expectations = left
      .flatMap(expectVehicle)
      .filter(
        (e) => !['vehicles', 'lots', 'listings'].includes(e.table) || !/archived|position/.test(e.column),
      );
    expect(unmet(expectations, secondLake).filter((e) => e.found === 'no row')).toEqual([]);
  });

  it('record each change of a tracked field', () => {
    const amounts = ['bid', 'final_bid', 'buy_now'];
    const old = new Map(before.flatMap(({ lots }) => lots).map((lot) => [lot.id, lot]));
    const expected = after
      .flatMap(({ lots }) => lots)
      .flatMap((lot) => {
        const was = old.get(lot.id);
        if (was === undefined) return [];
        return amounts
          .filter((field) => (was[field] ?? null) !== (lot[field] ?? null))
          .map((field) => `${lot.id} ${field} ${was[field] ?? null} ${lot[field] ?? null}`);
      });
    const number = (value: unknown): number | null => (value === null ? null : Number(value));
    const recorded = (secondLake.get('lot_changes') ?? [])
      .filter((row) => amounts.includes(String(row.field)))
      .map((row) => `${row.lot_id} ${row.field} ${number(row.old_value)} ${number(row.new_value)}`);
    expect(expected.length).toBeGreaterThan(5);
    expect(recorded.sort()).toEqual(expected.sort());
  });

  it('leave a row unchanged if its record did not change', () => {
    const changed = new Set(sandbox.world.activeIds(undefined, FIRST.getTime()));
    const same = (secondLake.get('vehicles') ?? []).filter(
      (row) => !changed.has(Number(row.vehicle_id)) && row.archived === false,
    );
    const was = new Map((firstLake.get('vehicles') ?? []).map((row) => [row.vehicle_id, row]));
    expect(same.length).toBeGreaterThan(250);
    for (const row of same) expect(row).toEqual(was.get(row.vehicle_id));
  });

  it('keep the snapshot of the first night whole', async () => {
    const lake = await readLake(first.snapshot);
    for (const [name, rows] of firstLake) expect(lake.get(name)?.length, name).toBe(rows.length);
  });

  it('change nothing when the same night is run again', async () => {
    const again = await night(new Date(SECOND.getTime() + 60_000));
    const changes = Object.entries(again.counts).filter(([, c]) => c.inserted + c.updated + c.gone > 0);
    expect(changes).toEqual([]);
    expect(again.lotChanges).toBe(0);
  });

  it('can be rebuilt from landing', async () => {
    const lake = await readLake(current);
    rmSync(join(folder.path, 'lake'), { recursive: true });
    mkdirSync(join(folder.path, 'lake'));
    await rebuild({
      ...WITHOUT_MARTS,
      config: configFor(sandbox.url, folder.path),
      reporter: silentReporter(),
      now: () => SECOND,
    });
    const rebuilt = await readLake(current);
    for (const [name, rows] of lake) {
      if (name === 'runs') continue;
      expect(inOrder(rebuilt.get(name)), name).toEqual(inOrder(rows));
    }
  }, 60_000);
});

describe('a service without /cars', () => {
  it('fails the run, and publishes nothing', async () => {
    const service = await serve(() => ({ status: 404, body: { message: 'nothing here' } }));
    const folder = temporaryFolder();
    const run = nightly({ config: configFor(service.url, folder.path), reporter: silentReporter() });
    await expect(run).rejects.toMatchObject({ code: 'SERVICE_NOT_FOUND', outcome: 'failed' });
    await expect(run).rejects.toThrow(/nothing here/);
    expect(existsSync(join(folder.path, 'lake', 'current'))).toBe(false);
    await service.close();
    folder.remove();
  });
});
