import { readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { incremental } from '../../pipelines/incremental.js';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { openTemporarySession } from '../../src/base/duck/session.js';
import { executeVacuum, planVacuum, type VacuumPlan } from '../../src/beyond/keep/vacuum-lake.js';
import type { Retention } from '../../src/beyond/keep/vacuum-plan.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { readManifest } from '../../src/core/lake/manifest.js';
import { createWorld } from '../../src/sandbox/index.js';
import { firstLot, recordsOf, vehicleAt } from '../served.js';
import {
  configFor,
  expectSameLake,
  lastPage,
  readLake,
  serve,
  silentReporter,
  temporaryFolder,
  UNREADABLE_LIST,
  WITHOUT_MARTS,
} from './support.js';
import { setUp } from './world-oracle.js';

const START = Date.parse('2026-11-02T02:00:00Z');
const NIGHT = 36 * 3_600_000;

/** Removes everything past retention, as `lotlake vacuum` does. */
async function vacuum(output: string, retention: Retention): Promise<VacuumPlan> {
  const opened = await openTemporarySession({ memory: '500MB', threads: 1 });
  const plan = await planVacuum(opened.session.connection, layoutOf(output), retention).finally(opened.close);
  await executeVacuum(layoutOf(output), plan, new AbortController().signal);
  return plan;
}

describe('a value from a night that is no longer in landing', () => {
  it('is kept by a rebuild', async () => {
    const world = createWorld({ vehicles: 40, seed: 9 });
    const vehicles = recordsOf(world);
    const index = vehicles.findIndex(
      (vehicle) => vehicle.lots.length === 1 && firstLot(vehicle).archived === undefined,
    );
    const broken = structuredClone(vehicleAt(vehicles, (index + 1) % vehicles.length));
    const flagged = structuredClone(vehicleAt(vehicles, index));
    Object.assign(broken, { listings: UNREADABLE_LIST });
    firstLot(flagged).archived = true;
    const others = vehicles.filter(({ id }) => id !== broken.id && id !== flagged.id);
    // The flag and the broken record come only in the first night. Then both vehicles are sound, and then gone.
    const nights = [[...others, broken, flagged], vehicles, others];
    const folder = temporaryFolder();
    let night: number;
    const service = await serve(({ pathname, searchParams }) =>
      pathname === '/api/cars'
        ? { body: lastPage(searchParams.get('page') === '1' ? (nights[night] ?? []) : []) }
        : { status: 404, body: { message: 'not here' } },
    );
    const job = () => ({
      config: configFor(service.url, folder.path, { referenceDays: 1000, keyframeDays: 0 }),
      ...WITHOUT_MARTS,
      reporter: silentReporter(),
      now: () => new Date(START + night * NIGHT),
    });
    const layout = layoutOf(folder.path);
    for (night = 0; night < nights.length; night++) await nightly(job());
    night = nights.length - 1;
    const before = await readLake(layout.current);
    expect(before.get('rejects')).toMatchObject([{ path: '', record_id: String(broken.id) }]);
    await vacuum(folder.path, { keepSnapshots: 2, keepDays: 0, keepPasses: 2 });
    expect(readdirSync(join(layout.landing, 'cars')).length).toBe(2);
    await rebuild(job());
    // Only rejects disappear with their pass.
    expectSameLake(await readLake(layout.current), new Map([...before, ['rejects', []]]));
    await service.close();
    folder.remove();
  });
});

describe('nights with windows between them', () => {
  const HOUR = 3_600_000;

  it('are rebuilt with every row as it was after a vacuum removed the older ones', async () => {
    const stage = await setUp(
      { vehicles: 80, seed: 21, clock: new Date(START) },
      // The first and the third night are keyframes, the others deltas.
      { referenceDays: 1000, shrinkGuard: 1, keyframeDays: 2 },
    );
    const layout = layoutOf(stage.output);
    const moveTo = (hours: number) => stage.sandbox.setClock(new Date(START + hours * HOUR));
    const counts: number[] = [];
    for (let night = 0; night < 4; night++) {
      moveTo(30 * night);
      await stage.night();
      for (const hours of [9, 20]) {
        moveTo(30 * night + hours);
        await stage.run(incremental);
      }
      await vacuum(stage.output, { keepSnapshots: 1, keepDays: 0, keepPasses: 2 });
      counts.push(readdirSync(join(layout.landing, 'archived_lots')).length);
    }
    expect(readdirSync(join(layout.landing, 'cars')).length).toBeLessThanOrEqual(6);
    // Until the third night, the delta of the second keeps its keyframe.
    expect(counts[2]).toBeLessThanOrEqual(9);
    expect(counts[3]).toBeLessThanOrEqual(6);
    const before = await stage.lake();
    const known = readManifest(realpathSync(layout.current)).last_pass_at;
    expect(before.get('archived_lots')?.length).toBeGreaterThan(5);
    await stage.run(rebuild);
    expectSameLake(await stage.lake(), before);
    expect(readManifest(realpathSync(layout.current)).last_pass_at).toEqual(known);
    moveTo(30 * 4);
    await stage.run(incremental);
    await stage.night();
    await stage.close();
  }, 240_000);

  it('still count after a rebuild, whatever landing has lost', async () => {
    const stage = await setUp({ vehicles: 40, seed: 22, clock: new Date(START) }, { referenceDays: 1000 });
    const layout = layoutOf(stage.output);
    await stage.night();
    stage.sandbox.setClock(new Date(START + 30 * HOUR));
    await stage.run(incremental);
    const known = readManifest(realpathSync(layout.current)).last_pass_at;
    rmSync(join(layout.landing, 'archived_lots'), { recursive: true });
    const cars = join(layout.landing, 'cars');
    rmSync(join(cars, readdirSync(cars).sort()[0] ?? ''), { recursive: true });
    const before = await stage.lake();
    await stage.run(rebuild);
    expect(readManifest(realpathSync(layout.current)).last_pass_at).toEqual(known);
    expectSameLake(await stage.lake(), before);
    stage.sandbox.setClock(new Date(START + 40 * HOUR));
    const { result } = await stage.run(incremental);
    expect(result.passes.map(({ record }) => record.kind)).toEqual(['window', 'window']);
    await stage.close();
  }, 120_000);
});
