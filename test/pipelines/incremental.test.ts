import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { incremental } from '../../pipelines/incremental.js';
import { nightly } from '../../pipelines/nightly.js';
import { recordsOf } from '../served.js';
import { WITHOUT_CATALOG } from './support.js';
import { activeIn, differences, type Lake, rowsOf, type Stage, setUp } from './world-oracle.js';

const CLOCK = new Date('2026-11-18T02:00:00Z');
const HOUR = 3_600_000;
const advance = ({ sandbox }: Stage, hours: number): void =>
  sandbox.setClock(new Date(sandbox.clock.getTime() + hours * HOUR));

/** Inodes of the files of the lake, without marts and lotlake's own tables. */
function inodes({ output }: Stage, lake: Lake): Map<string, number> {
  const current = join(output, 'lake', 'current');
  return new Map(
    ['lots', 'vehicles', 'prices', 'lot_images', 'inspections', 'events']
      .filter((table) => lake.has(table))
      .flatMap((table) =>
        readdirSync(join(current, table), { recursive: true, encoding: 'utf8' })
          .filter((file) => file.endsWith('.parquet'))
          .map((file): [string, number] => [join(table, file), statSync(join(current, table, file)).ino]),
      ),
  );
}

describe('an incremental run', () => {
  // The tests tell a story of one lake, in this order.
  let stage: Stage;
  beforeAll(async () => {
    const world = { vehicles: 150, seed: 41, clock: CLOCK };
    stage = await setUp(world, { referenceDays: 1000 });
  });
  afterAll(() => stage.close());

  const due = { outcome: 'usage', hint: expect.stringContaining('lotlake run nightly') };

  it('says that a full pass is due if there is none', async () => {
    await expect(stage.run(incremental)).rejects.toMatchObject(due);
  });

  it('follows a night whose counts agree with the answers of the service and with the tables', async () => {
    const { balance } = (await stage.night()).result;
    const active = stage.sandbox.world.activeIds().length;
    const none = { unchanged: 0, rejected: 0, rejectedValues: 0 };
    const cars = { stream: 'cars', served: active, landed: active, loaded: active, ...none };
    expect(balance.streams).toContainEqual(cars);
    const lake = await stage.lake();
    expect(balance.tables.length).toBe(29);
    for (const { table, before, inserted, removed, carried, after } of balance.tables) {
      const rows = rowsOf(lake, table).length;
      expect([table, before, inserted, removed, carried, after]).toEqual([table, 0, rows, 0, 0, rows]);
    }
  });

  it('brings what changed, archives what the archive feed names, and nothing for absence', async () => {
    const before = stage.sandbox.world;
    advance(stage, 40);
    const { result } = await stage.run(incremental);
    const { world } = stage.sandbox;
    const changed = recordsOf(world).filter(
      (record) => JSON.stringify(record) !== JSON.stringify(recordsOf(before, [record.id])[0]),
    );
    expect(changed.length).toBeGreaterThan(5);
    const lake = await stage.lake();
    expect(differences(lake, recordsOf(world), false)).toEqual([]);
    expect(rowsOf(lake, 'lots').filter((lot) => lot.archived_by === 'absence')).toEqual([]);
    const gone = before.activeIds().filter((id) => !world.activeIds().includes(id));
    expect(gone.length).toBeGreaterThan(0);
    // The archive feed names every lot that left within the window.
    const archived = rowsOf(lake, 'vehicles').filter((row) => row.archived === true);
    expect(archived.map((row) => row.vehicle_id).sort()).toEqual(gone.sort());
    const cars = result.passes.find(({ record }) => record.stream === 'cars');
    expect(cars?.record.kind).toBe('window');
    expect(cars?.record.request.minutes).toBe(41 * 60);
    expect(cars?.records).toBeLessThan(world.activeIds().length);
  });

  it('changes nothing when it runs again', async () => {
    const files = inodes(stage, await stage.lake());
    const { result } = await stage.run(incremental, { minutes: 5 });
    for (const counts of Object.values(result.counts))
      expect(counts).toMatchObject({ inserted: 0, updated: 0, gone: 0, writtenFiles: 0 });
    expect(result.lotChanges).toBe(0);
    expect(inodes(stage, await stage.lake())).toEqual(files);
    expect(files.size).toBeGreaterThan(5);
  });

  it('reaches back to the last complete pass, past failed runs', async () => {
    advance(stage, 20);
    stage.sandbox.setFaults([{ match: { path: '/cars' }, fault: { kind: 'server-error' } }]);
    await expect(stage.run(incremental, { retryBudget: 0.1 })).rejects.toMatchObject({
      code: 'SERVICE_FAILED',
    });
    advance(stage, 20);
    stage.sandbox.setFaults(WITHOUT_CATALOG);
    const { result } = await stage.run(incremental);
    const [cars] = result.passes;
    // 40 hours and an overlap of one, minus the five minutes by which the earlier run was later.
    expect(cars?.record.request.minutes).toBe(41 * 60 - 5);
    expect(activeIn(await stage.lake())).toEqual(stage.sandbox.world.activeIds());
  });

  it('leaves nothing for the next full pass to change', async () => {
    const { result } = await stage.night({ minutes: 5 });
    expect(result.lotChanges).toBe(0);
  });

  it('says that a full pass is due if no window reaches back', async () => {
    const sent = stage.sandbox.requests.length;
    advance(stage, 73);
    await expect(stage.run(incremental)).rejects.toMatchObject({
      ...due,
      message: expect.stringContaining('3.0 days ago'),
    });
    // The clock of the machine may be wrong, so it asks the service for its time.
    expect(stage.sandbox.requests.length).toBe(sent + 1);
    await expect(stage.night()).resolves.toBeDefined();
  });

  it('between an interrupted full pass and its resumption keeps its rows, which are neither overwritten nor archived', async () => {
    advance(stage, 20);
    stage.sandbox.setFaults([{ match: { path: '/cars', after: 4 }, fault: { kind: 'server-error' } }]);
    await expect(stage.run(nightly, { retryBudget: 0.1, concurrency: 1 })).rejects.toMatchObject({
      code: 'SERVICE_FAILED',
    });
    stage.sandbox.setFaults(WITHOUT_CATALOG);
    advance(stage, 5);
    await stage.run(incremental);
    const { warnings } = await stage.night({ minutes: 1, allowShrink: true });
    expect(warnings.filter((warning) => warning.includes('is abandoned'))).toEqual([]);
    const lake = await stage.lake();
    expect(activeIn(lake)).toEqual(stage.sandbox.world.activeIds());
    expect(differences(lake, recordsOf(stage.sandbox.world), false)).toEqual([]);
  });
});
