import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLayer, readModels } from '../../../src/core/model/model-files.js';
import { isRolledBack } from '../../../src/sandbox/world/past.js';
import { indexOf } from '../../../src/sandbox/world/population.js';
import { need } from '../../served.js';
import { compareRows } from './compare.js';
import { type WorldNight, worldNight } from './night.js';
import { oracles } from './oracles.js';

/** Vehicles of the world; `npm run test:soak` takes 20,000. */
const vehicles = Number(process.env.LOTLAKE_WORLD ?? 1200);

const known = await oracles();
/** Facts that several marts share. The oracles of those marts check them. */
const SHARED = /^(dim_\w+|known_lots|lot_groups|odometer_readings)$/;
/** A seed repeats its file, planted prices test what is fitted (test/model/pricing), and sales tests what it is made of. */
const models = [...readModels(), ...readLayer('examples')].filter(
  (model) =>
    !model.isSeed && !/\bfit\./.test(model.sql) && model.exists !== 'none' && !SHARED.test(model.name),
);
let night: WorldNight;
beforeAll(async () => {
  night = await worldNight(vehicles, vehicles < 10_000 ? 2 : 5);
}, 300_000);
afterAll(() => night.close());

describe(`the marts of a world of ${vehicles} vehicles`, () => {
  it('each have an oracle', () => {
    expect([...known.keys()]).toEqual(models.map(({ name }) => name).sort());
  });

  it.each(models.map((model) => [model.name, model] as const))(
    '%s equals what its oracle computes from the records',
    // What lots cost is computed in fractions of whole numbers.
    { timeout: vehicles < 10_000 ? 120_000 : 1_200_000 },
    async (name, { key }) => {
      const expected = (await known.get(name)?.(night)) ?? [];
      const actual = await night.rows(name);
      expect(compareRows(actual, expected, key)).toEqual([]);
      expect(actual.length, 'a mart without rows shows nothing').toBeGreaterThan(0);
    },
  );

  it('show an odometer as rolled back if it was wound back below what a workshop recorded', async () => {
    const { world } = night.sandbox;
    const visible = night.cars.filter(({ lots, vehicle_history_reports: reports }) => {
      const visits = (reports ?? []).flatMap(({ events = [] }) =>
        events.map((event) => event.mileage_km ?? 0),
      );
      return Math.max(...visits) > 1000 + Math.max(...lots.map(({ odometer }) => odometer?.km ?? 0));
    });
    const isWound = ({ id }: { id: number }): boolean =>
      isRolledBack(world, need(indexOf(world, id), `the index of ${id}`));
    const flagged = (await night.rows('vehicle_timeline')).filter((row) => row.odometer_rollback);
    const found = new Set(flagged.map((row) => row.vehicle_id));
    // Readings that are known to be wrong, and two that lie a mile in kilometres apart, show nothing: one car in thirty.
    const missed = visible.filter(({ id }) => !found.has(id));
    expect(missed.length).toBeLessThanOrEqual(0.05 * visible.length);
    expect([...found].every((id) => isWound({ id: Number(id) }))).toBe(true);
    expect(visible.every(isWound)).toBe(true);
    expect(visible.length).toBeGreaterThan(2);
    // The workshops read the true distance, and everybody after them the rolled-back reading.
    expect([...new Set(flagged.map((row) => row.event))].sort()).toEqual([
      'history_report',
      'inspection',
      'listed',
    ]);
  });
});
