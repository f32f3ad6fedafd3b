import { afterAll, beforeAll, expect, it } from 'vitest';
import { base, lot } from './cases.js';
import { computeMarts, openLake, type TestLake, texts } from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

it('takes absurd years and distances as unknown', async () => {
  const cars = [
    { year: 2020, odometer_km: 90_000 },
    { year: 2020, odometer_km: 1 },
    { year: 2026, odometer_km: 1 },
    { year: 1900, odometer_km: 90_000 },
    { year: 2030, odometer_km: 90_000 },
    { year: null, odometer_km: 90_000 },
    { year: 2020, odometer_km: 90_000, odometer_status_id: 2, odometer_status_name: 'not_actual' },
  ];
  const lots = cars.map(({ year: _, ...given }, i) => lot({ lot_id: i + 1, vehicle_id: i + 1, ...given }));
  const vehicles = cars.map(({ year }, i) => ({ vehicle_id: i + 1, year }));
  await computeMarts(lake, { ...base, lots, vehicles }, 'price_inputs');
  const found = await texts(
    lake,
    'select age_years is not null as has_age, odometer_km, odometer from price_inputs order by lot_id',
  );
  expect(found).toEqual([
    { has_age: true, odometer_km: 90_000, odometer: 'usable' },
    { has_age: true, odometer_km: null, odometer: 'implausible' },
    { has_age: true, odometer_km: 1, odometer: 'usable' },
    { has_age: false, odometer_km: null, odometer: 'year unknown' },
    { has_age: false, odometer_km: null, odometer: 'year unknown' },
    { has_age: false, odometer_km: null, odometer: 'year unknown' },
    { has_age: true, odometer_km: null, odometer: 'not_actual unusable' },
  ]);
});

it('prices a listing with a future date as of now', async () => {
  const created = ['2026-01-05T00:00:00Z', '2099-01-05T00:00:00Z'];
  const lots = created.map((created_at, i) =>
    lot({ lot_id: i + 1, vehicle_id: i + 1, domain_id: 12, created_at }),
  );
  const vehicles = lots.map((_, i) => ({ vehicle_id: i + 1, year: 2020 }));
  await computeMarts(lake, { ...base, lots, vehicles }, 'price_inputs');
  const found = await texts(
    lake,
    `select cast(cast(priced_at as date) as varchar) as day, priced_at = as_of as is_now
    from price_inputs, dim_settings order by lot_id`,
  );
  expect(found).toMatchObject([{ day: '2026-01-05', is_now: false }, { is_now: true }]);
});

it('prices a lot whose auction is more than 120 days ahead as of now', async () => {
  const lots = [20, 400].map((days, i) => {
    const sale_date = new Date(
      Date.parse(String(base.runs[0]?.started_at)) + days * 86_400_000,
    ).toISOString();
    return lot({ lot_id: i + 1, vehicle_id: i + 1, status_id: 3, sale_date, final_bid: null });
  });
  const vehicles = lots.map((_, i) => ({ vehicle_id: i + 1, year: 2020 }));
  await computeMarts(lake, { ...base, lots, vehicles }, 'price_inputs');
  const found = await texts(
    lake,
    'select cast(priced_at as date) - cast(as_of as date) as days from price_inputs, dim_settings order by lot_id',
  );
  const [near, far] = found.map(({ days }) => Number(days));
  expect(near).toBeGreaterThan(15);
  expect(far).toBe(0);
});
