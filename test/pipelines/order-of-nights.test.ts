import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { incremental } from '../../pipelines/incremental.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { withDatabase } from '../../src/ask/query/open-lake.js';
import { currentId, layoutOf } from '../../src/core/lake/layout.js';
import { listPasses } from '../../src/core/lake/passes/pass.js';
import { findPublished, listSnapshots } from '../../src/core/lake/snapshots.js';
import { type Lake, rowsOf, type Stage, setUp } from './world-oracle.js';

const HOUR = 3_600_000;

const TABLES = [
  ...['lots', 'vehicles', 'prices', 'lot_images', 'archived_lots', 'checked_items'],
  ...['sightings', 'lot_changes'],
];

/** Minutes by which the machine may be ahead of the service, which does not tell its time. */
const CLOCKS = [0, 0, 0, 30, -45, 600, -600, 1500, -1500];

const stages: Stage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

/** Numbers below a bound that follow from a seed. */
function draws(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_507) + 3_266_489_909) >>> 0;
    return state % below;
  };
}

/** Nights and windows by a seed, each by a clock of its own. Returns the order in which their snapshots were published. */
async function nights(seed: number, count: number, clocks = CLOCKS) {
  const draw = draws(seed);
  const stage = await setUp(
    { vehicles: 80, seed, clock: new Date('2026-11-18T02:00:00Z') },
    { referenceDays: 1000, perPage: 25, keyframeDays: 5 },
  );
  stages.push(stage);
  const ids: string[] = [];
  for (let night = 0; night < count; night++) {
    const minutes = clocks[draw(clocks.length)] ?? 0;
    const { result } =
      night > 0 && draw(3) === 0 ? await stage.run(incremental, { minutes }) : await stage.night({ minutes });
    if (result.published) ids.push(result.snapshotId);
    stage.sandbox.setClock(new Date(stage.sandbox.clock.getTime() + (6 + draw(18)) * HOUR));
  }
  return { stage, ids, draw };
}

const plain = (lake: Lake, table: string): string[] =>
  rowsOf(lake, table)
    .map((row) => JSON.stringify(row))
    .sort();

function expectSame(after: Lake, before: Lake): void {
  for (const table of TABLES) expect(plain(after, table), table).toEqual(plain(before, table));
}

describe.each([1, 2, 3])('a fortnight of nights whose clocks jump (%d)', (seed) => {
  it('is the same lake after a rebuild, with all passes and without one in the middle', async () => {
    const { stage, ids, draw } = await nights(seed, 8);
    const layout = layoutOf(stage.output);
    expect(currentId(layout)).toBe(ids.at(-1));
    expect(listSnapshots(layout).map(({ id }) => id)).toEqual(ids);
    const before = await stage.lake();
    expect(rowsOf(before, 'lot_changes').length).toBeGreaterThan(0);
    const kept = join(stage.output, 'kept');
    cpSync(layout.landing, kept, { recursive: true });
    await stage.run(rebuild);
    expectSame(await stage.lake(), before);

    const cars = join(layout.landing, 'cars');
    for (let round = 0; round < 2; round++) {
      const passes = listPasses(layout.landing, 'cars').map(({ record }) => record.pass_id);
      const gone = passes[1 + draw(passes.length - 2)] ?? '';
      rmSync(join(cars, gone), { recursive: true });
      await stage.run(rebuild);
      expectSame(await stage.lake(), before);
      cpSync(join(kept, 'cars', gone), join(cars, gone), { recursive: true });
    }
    expect(readdirSync(cars).length).toBeGreaterThan(3);
  });
});

describe('two nights with one start', () => {
  it('are replayed in the order in which they were published', async () => {
    const { stage, ids } = await nights(7, 2, [0]);
    // The service goes on, and the clock of the machine stands still.
    const start = stage.sandbox.clock.getTime();
    for (let hours = 0; hours <= 40; hours += 20) {
      stage.sandbox.setClock(new Date(start + hours * HOUR));
      ids.push((await stage.night({ minutes: -hours * 60 })).result.snapshotId);
    }
    expect(listSnapshots(layoutOf(stage.output)).map(({ id }) => id)).toEqual(ids);
    const before = await stage.lake();
    await stage.run(rebuild);
    expectSame(await stage.lake(), before);
  });
});

it('a snapshot is younger than those before it, whatever its clock said', async () => {
  const { stage, ids } = await nights(5, 3, [0]);
  const late = await stage.night({ minutes: -5 * 24 * 60 });
  const layout = layoutOf(stage.output);
  const published = [...ids, late.result.snapshotId];
  const limits = { memory: '500MB', threads: 1, output: stage.output };
  await withDatabase(limits, undefined, async ({ session: { connection } }) => {
    const { kept } = await findPublished(connection, layout);
    expect(kept.map(({ id }) => id)).toEqual(published);
    expect(kept.map(({ manifest }) => manifest.sequence)).toEqual([1, 2, 3, 4]);
  });
});
