import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemas } from '../../src/core/service/contract/records.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { get, idsOf } from './support.js';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 300, simplePaginateDefault: 0 });
});
afterAll(() => sandbox.close());

describe('/search', () => {
  it('gives the vehicles of /cars without their reports, all with the newer members', async () => {
    const got = await get(sandbox, '/search?per_page=1000&prices_history=1');
    expect(idsOf(got)).toEqual(sandbox.world.activeIds());
    for (const record of got.body.data ?? []) {
      const { doors, seats, has_inspections, has_history_reports, listings, ...rest } = record;
      const fed = JSON.parse(sandbox.world.vehicleJson(Number(record.id), { pricesHistory: true }) ?? '');
      if ('seats' in fed) {
        const { inspections, vehicle_history_reports, ...without } = fed;
        expect(JSON.parse(JSON.stringify(without))).toMatchObject({
          doors,
          seats,
          has_inspections,
          has_history_reports,
          listings,
        });
        expect(inspections.length > 0).toBe(has_inspections);
        expect(vehicle_history_reports.length > 0).toBe(has_history_reports);
      }
      expect([typeof doors, typeof seats, typeof has_inspections, typeof has_history_reports]).toEqual([
        'number',
        'number',
        'boolean',
        'boolean',
      ]);
      expect(Array.isArray(listings)).toBe(true);
      expect('inspections' in rest || 'vehicle_history_reports' in rest).toBe(false);
      expect(schemas.vehicle.safeParse(record).success).toBe(true);
    }
    expect(got.text).toContain('"prices":[{');
    expect((await get(sandbox, '/search')).text).not.toContain('"prices"');
  });

  it('pages, sorts and counts as /cars does', async () => {
    const ids = sandbox.world.activeIds();
    const page = await get(sandbox, '/search?per_page=70&page=2&sortDirection=desc');
    expect(idsOf(page)).toEqual(ids.toReversed().slice(70, 140));
    expect(page.body.meta).toMatchObject({ total: ids.length, current_page: 2, per_page: 70 });
    expect((await get(sandbox, '/search?per_page=7&simple_paginate=1')).body.meta).not.toHaveProperty(
      'total',
    );
    expect((await get(sandbox, '/search')).body.data).toHaveLength(50);
  });

  it('has no page beyond its first 10,000 results', async () => {
    for (const [query, status] of [
      ['per_page=1000&page=10', 200],
      ['per_page=1000&page=11', 400],
      ['page=200', 200],
      ['page=201', 400],
      ['per_page=999&page=11', 400],
    ] as const) {
      const got = await get(sandbox, `/search?${query}`);
      expect([query, got.status]).toEqual([query, status]);
      if (status === 400) expect(got.body.message).toMatch(/page.*10000/);
    }
    expect((await get(sandbox, '/cars?per_page=1000&page=11')).status).toBe(200);
  });
});

describe('/search/count', () => {
  it('agrees with the total of /search', async () => {
    for (const query of [
      '',
      'year=2019',
      'domain_id=12',
      'has_inspections=1&fuel_type=1',
      'minutes=2000',
      'name=nothing',
    ]) {
      const total = (await get(sandbox, `/search?${query}`)).body.meta?.total;
      const got = await get(sandbox, `/search/count?${query}`);
      expect([query, got.body]).toEqual([query, { count: total }]);
    }
  });

  it('sees only the sources of the key', async () => {
    const few = await startSandbox({ vehicles: 300, domains: [12] });
    expect((await get(few, '/search/count')).body).toEqual({ count: few.world.activeIds([12]).length });
    expect((await get(few, '/search/count?status=6')).body).toEqual({ count: 0 });
    expect((await get(few, '/search?domain_id=3')).status).toBe(401);
    await few.close();
  });
});
