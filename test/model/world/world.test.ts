import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readModels } from '../../../src/model/model-files.js';
import { compareRows } from './compare.js';
import { type WorldNight, worldNight } from './night.js';
import { oracles } from './oracles.js';

/** Vehicles of the world; `npm run test:soak` takes 20,000. */
const vehicles = Number(process.env.LOTLAKE_WORLD ?? 1200);

const known = await oracles();
/** Facts that several marts share, which the oracles of those marts check. */
const SHARED = /^(dim_\w+|lot_groups|odometer_readings)$/;
/** A seed is what its file says, and what is fitted is judged by planted prices (test/model/pricing). */
const models = readModels().filter(
  ({ name, isSeed, isFitted }) => !isSeed && !isFitted && !SHARED.test(name),
);
let night: WorldNight;
beforeAll(async () => {
  night = await worldNight(vehicles, vehicles < 10_000 ? 2 : 5);
}, 300_000);
afterAll(() => night.close());

describe(`the marts of a world of ${vehicles} vehicles`, () => {
  it('have an oracle each', () => {
    expect([...known.keys()]).toEqual(models.map(({ name }) => name).sort());
  });

  it.each(models.map((model) => [model.name, model] as const))(
    '%s equals what its oracle computes from the records',
    { timeout: 120_000 },
    async (name, { key }) => {
      const expected = (await known.get(name)?.(night)) ?? [];
      const actual = await night.rows(name);
      expect(compareRows(actual, expected, key)).toEqual([]);
      expect(actual.length, 'a mart without rows shows nothing').toBeGreaterThan(0);
    },
  );
});
