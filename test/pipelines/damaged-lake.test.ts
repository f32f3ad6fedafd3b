import { cpSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rebuild } from '../../pipelines/rebuild.js';
import { findBase } from '../../src/core/lake/base.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { readManifest } from '../../src/core/lake/manifest.js';
import { runLotlake } from '../cli/support.js';
import { activeIn, type Lake, rowsOf, type Stage, setUp } from './world-oracle.js';

const START = Date.parse('2026-11-18T02:00:00Z');

let stage: Stage;
let current: string;
beforeEach(async () => {
  stage = await setUp({ vehicles: 60, seed: 8, clock: new Date(START) });
  current = join(stage.output, 'lake', 'current');
  await stage.night();
});
afterEach(() => stage.close());

/** Runs the next night over the current world. */
const nextNight = (nights: number): ReturnType<Stage['night']> => {
  stage.sandbox.setClock(new Date(START + nights * 86_400_000));
  return stage.night();
};
/** Path of the first file of a table in the published snapshot. */
const fileOf = (table: string): string => {
  const snapshot = realpathSync(current);
  return join(snapshot, readManifest(snapshot).tables[table]?.files[0]?.path ?? '');
};
/** Replaces a file of this snapshot only, because another snapshot may share it by a hard link. */
const overwrite = (path: string, bytes: Uint8Array): void => {
  rmSync(path);
  writeFileSync(path, bytes);
};
/** The rows of a table by key, with the times since which the lake knows them. */
const known = (lake: Lake, table: string, key: string): string[] =>
  rowsOf(lake, table)
    .map((row) => `${row[key]} ${row.first_seen_at} ${row.archived}`)
    .sort();

describe('a published snapshot that lacks a file', () => {
  it.each(['lots', 'vehicles', 'passes'])(
    'of %s and has no older one stops a night, and a rebuild repairs it',
    async (table) => {
      const before = await stage.lake();
      rmSync(fileOf(table));
      await expect(nextNight(1)).rejects.toMatchObject({
        code: 'LAKE_UNSOUND',
        message: expect.stringMatching(new RegExp(`is damaged: table ${table}: ${table}/.*: no file`)),
        hint: expect.stringContaining('lotlake run rebuild'),
      });
      stage.sandbox.setClock(new Date(START));
      const { warnings } = await stage.run(rebuild);
      expect(warnings.join()).toMatch(
        new RegExp(`is damaged in 1 files of ${table} \\(${table}/.*: no file\\)`),
      );
      const after = await stage.lake();
      for (const [name, key] of [
        ['lots', 'lot_id'],
        ['vehicles', 'vehicle_id'],
        ['prices', 'price_id'],
      ] as const)
        expect(known(after, name, key)).toEqual(known(before, name, key));
      await expect(nextNight(1)).resolves.toBeDefined();
    },
    120_000,
  );

  it('has the files of a table that its manifest lacks is no base of a run, whichever table it is', () => {
    const path = join(realpathSync(current), 'manifest.json');
    const bytes = readFileSync(path);
    const { tables } = JSON.parse(bytes.toString());
    const filled = Object.keys(tables).filter((table) => tables[table].files.length > 0);
    expect(filled.length).toBeGreaterThan(20);
    const base = () => findBase(layoutOf(stage.output), () => undefined);
    for (const table of filled) {
      const manifest = JSON.parse(bytes.toString());
      delete manifest.tables[table];
      overwrite(path, Buffer.from(JSON.stringify(manifest)));
      expect(base, table).toThrow(`table ${table}: its files are there`);
    }
    overwrite(path, bytes);
    expect(base()?.folder).toBe(realpathSync(current));
  });

  it('has the prices and a manifest without the table stops a night, and a rebuild has all of them', async () => {
    const before = await stage.lake();
    const path = join(realpathSync(current), 'manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    delete manifest.tables.prices;
    overwrite(path, Buffer.from(JSON.stringify(manifest)));
    await expect(nextNight(1)).rejects.toMatchObject({ code: 'LAKE_UNSOUND' });
    stage.sandbox.setClock(new Date(START));
    await stage.run(rebuild);
    expect(rowsOf(before, 'prices').length).toBeGreaterThan(0);
    expect(rowsOf(await stage.lake(), 'prices').length).toBe(rowsOf(before, 'prices').length);
    await expect(nextNight(1)).resolves.toBeDefined();
  }, 120_000);

  it('is skipped in favour of the newest older one, and a rebuild restores what was seen in between', async () => {
    await nextNight(1);
    const second = await stage.lake();
    // Every night writes the vehicles anew, so this snapshot has its own file of them.
    rmSync(fileOf('vehicles'));
    const { warnings } = await nextNight(2);
    expect(warnings.join()).toMatch(
      /is damaged: table vehicles: .* going on from .* comes back with lotlake run rebuild/,
    );
    const third = await stage.lake();
    expect(activeIn(third)).toEqual(stage.sandbox.world.activeIds());
    await stage.run(rebuild);
    const lots = new Set(rowsOf(await stage.lake(), 'lots').map(({ lot_id }) => lot_id));
    expect(rowsOf(second, 'lots').filter(({ lot_id }) => !lots.has(lot_id))).toEqual([]);
  }, 120_000);

  it('is repaired from an older one if landing no longer has its records', async () => {
    const first = await stage.lake();
    await nextNight(1);
    await nextNight(2);
    // Landing holds only the last night.
    const { code } = runLotlake(stage.output, 'vacuum');
    expect(code).toBe(0);
    const cars = readManifest(realpathSync(current)).pass_ids;
    for (const pass of rowsOf(await stage.lake(), 'passes'))
      if (!cars.includes(String(pass.pass_id)))
        rmSync(join(stage.output, 'landing', String(pass.stream), String(pass.pass_id)), {
          recursive: true,
          force: true,
        });
    const path = fileOf('vehicles');
    const bytes = readFileSync(path);
    const middle = bytes.length >> 1;
    bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
    overwrite(path, bytes);
    const { warnings } = await stage.run(rebuild);
    expect(warnings.join()).toMatch(/is damaged in 1 files of vehicles/);
    const after = await stage.lake();
    const seen = new Map(rowsOf(after, 'vehicles').map((row) => [row.vehicle_id, row.first_seen_at]));
    for (const row of rowsOf(first, 'vehicles')) expect(seen.get(row.vehicle_id)).toBe(row.first_seen_at);
    // A vehicle that left since the older snapshot stays active until the next full pass lacks it.
    expect(activeIn(after)).toEqual(expect.arrayContaining([...stage.sandbox.world.activeIds()]));
    await nextNight(3);
    expect(activeIn(await stage.lake())).toEqual(stage.sandbox.world.activeIds());
  }, 120_000);
});

describe('a lake', () => {
  it.each([
    { what: 'an empty manifest', bytes: '' },
    { what: 'a manifest that breaks off', bytes: '{"snapshot_id": "2026' },
  ])(
    'with $what continues from the last sound snapshot',
    async ({ bytes }) => {
      await nextNight(1);
      overwrite(join(realpathSync(current), 'manifest.json'), Buffer.from(bytes));
      const { warnings } = await nextNight(2);
      expect(warnings.join()).toMatch(/is damaged: .*manifest.json .* going on from/);
      expect(activeIn(await stage.lake())).toEqual(stage.sandbox.world.activeIds());
      expect((await nextNight(3)).warnings.join()).not.toContain('damaged');
    },
    120_000,
  );

  it('whose link is lost continues from the newest snapshot, with all its rows', async () => {
    await nextNight(1);
    const before = await stage.lake();
    rmSync(current);
    expect(runLotlake(stage.output, 'query', 'select 1').err).toMatch(/current is not there.*LAKE_UNSOUND/);
    const { warnings } = await nextNight(2);
    expect(warnings.join()).toMatch(/the link .*current is lost; going on from the newest snapshot/);
    const since = (lake: Lake): string[] =>
      rowsOf(lake, 'lots').map((row) => `${row.lot_id} ${row.first_seen_at}`);
    const after = await stage.lake();
    expect(since(after)).toEqual(expect.arrayContaining(since(before)));
    expect(rowsOf(after, 'lot_changes').length).toBeGreaterThanOrEqual(rowsOf(before, 'lot_changes').length);
  }, 120_000);

  it('whose link became a folder in a copy is refused, with instructions', async () => {
    const snapshot = realpathSync(current);
    rmSync(current);
    cpSync(snapshot, current, { recursive: true });
    await expect(nextNight(1)).rejects.toMatchObject({
      code: 'LAKE_UNSOUND',
      message: expect.stringContaining('is a folder and no link'),
    });
  }, 60_000);
});
