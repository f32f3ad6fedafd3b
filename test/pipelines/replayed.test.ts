import { expect, it } from 'vitest';
import { incremental } from '../../pipelines/incremental.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { type Lake, rowsOf, setUp } from './world-oracle.js';

const HOUR = 3_600_000;
const CLOCK = new Date('2026-11-18T02:00:00Z');

it('a rebuild replays incrementals as they were', async () => {
  const stage = await setUp({ vehicles: 150, seed: 41, clock: CLOCK }, { referenceDays: 1000 });
  const advance = (hours: number): void =>
    stage.sandbox.setClock(new Date(stage.sandbox.clock.getTime() + hours * HOUR));
  await stage.night();
  for (const hours of [40, 6]) {
    advance(hours);
    await stage.run(incremental);
  }
  advance(20);
  await stage.night();
  advance(10);
  await stage.run(incremental);
  const plain = (lake: Lake, table: string): string[] =>
    rowsOf(lake, table)
      .map((row) => JSON.stringify(row))
      .sort();
  const before = await stage.lake();
  await stage.run(rebuild);
  const after = await stage.lake();
  for (const table of ['lots', 'vehicles', 'prices', 'lot_changes', 'checked_items', 'archived_lots'])
    expect(plain(after, table), table).toEqual(plain(before, table));
  await stage.close();
});
