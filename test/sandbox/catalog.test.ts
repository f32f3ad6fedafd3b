import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { at, get, type Json, seenIn } from './support.js';

let sandbox: Sandbox;
let vehicles: Json[];
beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 8000, seed: 9 });
  vehicles = seenIn(sandbox.world).map((one) => one.vehicle);
}, 30_000);
afterAll(() => sandbox.close());

const rows = async (path: string): Promise<readonly Json[]> => {
  const got = await get(sandbox, path);
  expect([path, got.status]).toEqual([path, 200]);
  return got.body.data ?? [];
};
/** Number of vehicles with each id at a path, for motorcycles or for all other vehicles. */
const counted = (path: string, motorcycles: boolean): Map<number, number> => {
  const counts = new Map<number, number>();
  for (const vehicle of vehicles) {
    const id = at(vehicle, path);
    if (typeof id !== 'number' || (at(vehicle, 'vehicle_type.id') === 2) !== motorcycles) continue;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
};
const quantities = (list: readonly Json[]): Map<number, number> =>
  new Map(list.filter((row) => row.cars_qty !== 0).map((row) => [Number(row.id), Number(row.cars_qty)]));

describe('/manufacturers', () => {
  it('lists about 424, three quarters of them without a vehicle', async () => {
    for (const path of ['/manufacturers', '/manufacturers/all']) {
      const list = await rows(path);
      expect(Math.abs(list.length - 424)).toBeLessThan(15);
      const empty = list.filter((row) => row.cars_qty === 0).length / list.length;
      expect(empty).toBeGreaterThan(0.7);
      expect(empty).toBeLessThan(0.82);
      expect(new Set(list.map((row) => row.id)).size).toBe(list.length);
      expect(new Set(list.map((row) => row.name)).size).toBe(list.length);
    }
  });

  it('counts what the feed holds, by type', async () => {
    const [cars, motorcycles] = [counted('manufacturer.id', false), counted('manufacturer.id', true)];
    expect(motorcycles.size).toBeGreaterThan(3);
    expect(quantities(await rows('/manufacturers/cars'))).toEqual(
      new Map([...cars].sort((a, b) => a[0] - b[0])),
    );
    expect(quantities(await rows('/manufacturers/motorcycles'))).toEqual(
      new Map([...motorcycles].sort((a, b) => a[0] - b[0])),
    );
    const all = await rows('/manufacturers/all');
    expect(all.reduce((sum, row) => sum + Number(row.cars_qty), 0)).toBe(vehicles.length);
    expect(await rows('/manufacturers')).toEqual(await rows('/manufacturers/cars'));
    expect(all.every((row) => row.cars === true || row.motorcycles === true)).toBe(true);
    expect(all.filter((row) => row.cars === true && row.motorcycles === true).map((row) => row.name)).toEqual(
      ['BMW', 'Honda', 'Suzuki', 'Yamaha'],
    );
  });

  it('has the members of the described record', async () => {
    for (const row of (await rows('/manufacturers')).slice(0, 30)) {
      expect(row).toEqual({
        id: expect.any(Number),
        name: expect.any(String),
        cars_qty: expect.any(Number),
        image: expect.stringMatching(/^https:/),
        models_qty: expect.any(Number),
        cars: true,
        motorcycles: expect.any(Boolean),
      });
    }
  });

  it('refuses an unknown type', async () => {
    const got = await get(sandbox, '/manufacturers/trucks');
    expect([got.status, got.body.message]).toEqual([400, expect.stringContaining('type')]);
  });
});

describe('/models and /generations', () => {
  it('add up to what the feed holds, maker by maker', async () => {
    const [models, generations] = [counted('model.id', false), counted('generation.id', false)];
    const seenModels = new Map<number, number>();
    const seenGenerations = new Map<number, number>();
    for (const maker of (await rows('/manufacturers')).filter((row) => row.cars_qty !== 0)) {
      const list = await rows(`/models/${maker.id}`);
      expect(list).toHaveLength(Number(maker.models_qty));
      expect(list.reduce((sum, row) => sum + Number(row.cars_qty), 0)).toBe(maker.cars_qty);
      expect(list.every((row) => row.manufacturer_id === maker.id)).toBe(true);
      for (const [id, count] of quantities(list)) seenModels.set(id, count);
      for (const model of list.filter((row) => row.cars_qty !== 0)) {
        const own = await rows(`/generations/${model.id}`);
        expect(own).toHaveLength(Number(model.generations_qty));
        expect(own.every((row) => row.model_id === model.id && row.manufacturer_id === maker.id)).toBe(true);
        for (const [id, count] of quantities(own)) seenGenerations.set(id, count);
      }
    }
    expect(seenModels).toEqual(new Map([...seenModels.keys()].map((id) => [id, models.get(id) ?? 0])));
    expect(seenModels.size).toBe(models.size);
    expect(seenGenerations).toEqual(
      new Map([...seenGenerations.keys()].map((id) => [id, generations.get(id) ?? 0])),
    );
    expect(seenGenerations.size).toBe(generations.size);
  }, 20_000);

  it('keep to a type', async () => {
    const harley = await rows('/models/58/motorcycles');
    expect(harley.find((row) => row.id === 880)?.cars_qty).toBe(counted('model.id', true).get(880));
    expect(await rows('/models/58')).toEqual([]);
    expect(await rows('/models/58/all')).toEqual(harley);
    expect(await rows('/generations/880/motorcycles')).toHaveLength(1);
    expect(await rows('/generations/880/cars')).toEqual([]);
    expect((await get(sandbox, '/generations/880/all')).status).toBe(400);
    expect((await get(sandbox, '/models/58/boats')).status).toBe(400);
  });

  it('give a null to_year for a generation in production', async () => {
    expect(await rows('/generations/1387')).toEqual([
      {
        id: 13871,
        name: 'XII',
        cars_qty: expect.any(Number),
        from_year: 2009,
        to_year: 2014,
        manufacturer_id: 48,
        model_id: 1387,
      },
      {
        id: 13872,
        name: 'XIII',
        cars_qty: expect.any(Number),
        from_year: 2015,
        to_year: 2020,
        manufacturer_id: 48,
        model_id: 1387,
      },
      {
        id: 13873,
        name: 'XIV',
        cars_qty: expect.any(Number),
        from_year: 2021,
        to_year: null,
        manufacturer_id: 48,
        model_id: 1387,
      },
    ]);
  });

  it('are empty for an id that does not exist, and refuse one that is not an id', async () => {
    expect(await rows('/models/9999999')).toEqual([]);
    expect(await rows('/generations/9999999')).toEqual([]);
    for (const [path, name] of [
      ['/models/ford', 'manufacturer_id'],
      ['/generations/x/cars', 'model_id'],
    ] as const) {
      const got = await get(sandbox, path);
      expect([got.status, got.body.message]).toEqual([400, expect.stringContaining(name)]);
    }
  });
});

describe('pages of the catalogue', () => {
  it('hold 1000 manufacturers, 500 models, 500 generations', async () => {
    const sizes = await Promise.all(
      ['/manufacturers', '/models/48', '/generations/1387'].map(async (path) =>
        at((await get(sandbox, path)).body.meta, 'per_page'),
      ),
    );
    expect(sizes).toEqual([1000, 500, 500]);
  });

  it('go on where a manufacturer has more than 500 models', async () => {
    const other = (await rows('/manufacturers')).find((row) => Number(row.models_qty) > 500);
    const first = await get(sandbox, `/models/${other?.id}`);
    expect([first.body.data?.length, first.body.meta?.total, first.body.meta?.last_page]).toEqual([
      500,
      other?.models_qty,
      2,
    ]);
    expect(first.body.links?.next).toContain('page=2');
    const second = await get(sandbox, `/models/${other?.id}?page=2`);
    const ids = [...(first.body.data ?? []), ...(second.body.data ?? [])].map((row) => row.id);
    expect(new Set(ids).size).toBe(other?.models_qty);
    expect(second.body.links?.next).toBeNull();
    expect((await get(sandbox, `/models/${other?.id}?page=x`)).status).toBe(400);
  });
});
