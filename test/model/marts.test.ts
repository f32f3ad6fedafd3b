import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDataTests } from '../../src/core/model/data-tests.js';
import { readModels } from '../../src/core/model/model-files.js';
import { OUTSIDE } from '../../src/core/model/sql-tree.js';
import { apart, base, lot, SOLD } from './cases.js';
import { compareColumns } from './columns.js';
import { computeMarts, computeModels, type Given, openLake, type TestLake, texts } from './support.js';

const MARTS = ['price_trends', 'damage_breakdown'];

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

describe('price_trends and damage_breakdown', () => {
  const sales = (count: number, month: string, from: number, rest: Given = {}) =>
    Array.from({ length: count }, (_, place) =>
      lot({
        lot_id: from + place,
        sale_date: `${month}-1${place % 10}T15:00:00Z`,
        status_id: SOLD,
        final_bid: from + place * 100,
        ...rest,
      }),
    );

  it('show the count but no statistics below five prices', async () => {
    await computeMarts(
      lake,
      apart({ ...base, lots: [...sales(5, '2026-07', 1000), ...sales(4, '2026-08', 2000)] }),
      ...MARTS,
    );
    const trends = await texts(
      lake,
      `select cast(sale_month as varchar) as month, lots_offered, sell_through, priced_lots, price_median, price_p90,
        price_median_change, priced_lots_3m, price_median_3m, manufacturer_name, model_name, currency
       from price_trends where level = 'generation' order by month`,
    );
    const names = { manufacturer_name: 'Ford', model_name: 'F-150', currency: 'USD' };
    expect(trends).toEqual([
      {
        ...{ month: '2026-07-01', lots_offered: 5, sell_through: 1, priced_lots: 5, price_median: 1200 },
        ...{ price_p90: 1360, price_median_change: null, priced_lots_3m: 5, price_median_3m: 1200, ...names },
      },
      {
        ...{ month: '2026-08-01', lots_offered: 4, sell_through: 1, priced_lots: 4, price_median: null },
        ...{ price_p90: null, price_median_change: null, priced_lots_3m: 9, price_median_3m: 1400, ...names },
      },
    ]);
  });

  it('compare a month with the calendar month before, not with the last month that had sales', async () => {
    const lots = [...sales(5, '2026-05', 1000), ...sales(5, '2026-06', 1100), ...sales(5, '2026-08', 2000)];
    await computeMarts(lake, apart({ ...base, lots }), ...MARTS);
    const found = await texts(
      lake,
      `select round(price_median_change, 4) as c from price_trends where level = 'generation' order by sale_month`,
    );
    expect(found.map((row) => row.c)).toEqual([null, 0.0833, null]);
  });

  it('keep damage names as received, and compare with the undamaged lots of the model', async () => {
    const damaged = (name: string | null, second: string | null = null) => ({
      damage_main_name: name,
      damage_second_name: second,
    });
    const lots = [
      ...sales(3, '2026-08', 4000, damaged('Normal Wear ', '')),
      ...sales(3, '2026-08', 4300, damaged('MINOR DENT/SCRATCHES', 'normal wear')),
      ...sales(6, '2026-08', 2000, damaged('Rear')),
      ...sales(4, '2026-08', 1000, damaged('Rear End')),
    ];
    await computeMarts(lake, apart({ ...base, lots }), ...MARTS);
    const found = await texts(
      lake,
      `select damage_main, damage_second, lots, share, priced_lots, price_median,
        round(price_ratio_to_sound, 6) as ratio from damage_breakdown where level = 'model' order by damage_main`,
    );
    const few = { lots: 3, share: 3 / 16, priced_lots: 3, price_median: null, ratio: null };
    expect(found).toEqual([
      { damage_main: 'MINOR DENT/SCRATCHES', damage_second: 'normal wear', ...few },
      { damage_main: 'Normal Wear', damage_second: 'unknown', ...few },
      {
        ...{ damage_main: 'Rear', damage_second: 'unknown', lots: 6, share: 6 / 16 },
        ...{ priced_lots: 6, price_median: 2250, ratio: 0.529412 },
      },
      { damage_main: 'Rear End', damage_second: 'unknown', ...few, lots: 4, share: 4 / 16, priced_lots: 4 },
    ]);
  });

  it('never treat a lot without a main damage as undamaged', async () => {
    const damaged = (name: string | null, second: string | null) => ({
      damage_main_name: name,
      damage_second_name: second,
    });
    const unstated = [
      ...sales(6, '2026-08', 9000, damaged(null, null)),
      ...sales(6, '2026-08', 9100, damaged(' ', 'Normal Wear')),
    ];
    const ratios = async (lots: readonly Given[]) => {
      await computeMarts(lake, apart({ ...base, lots }), ...MARTS);
      return texts(
        lake,
        `select damage_main, damage_second, lots, round(price_ratio_to_sound, 4) as ratio
         from damage_breakdown where level = 'model' order by damage_main, damage_second`,
      );
    };
    expect(await ratios(unstated)).toEqual([
      { damage_main: 'unknown', damage_second: 'Normal Wear', lots: 6, ratio: null },
      { damage_main: 'unknown', damage_second: 'unknown', lots: 6, ratio: null },
    ]);
    const sound = [
      ...sales(3, '2026-08', 3000, damaged('None', null)),
      ...sales(3, '2026-08', 3300, damaged('none', 'Unknown')),
      ...sales(1, '2026-08', 8000, damaged('none', 'Rear')),
    ];
    expect(await ratios([...unstated, ...sound])).toMatchObject([
      { damage_main: 'None', damage_second: 'unknown', ratio: null },
      { damage_main: 'none', damage_second: 'Rear', ratio: null },
      { damage_main: 'none', damage_second: 'Unknown', ratio: null },
      { damage_main: 'unknown', damage_second: 'Normal Wear', ratio: 2.8769 },
      { damage_main: 'unknown', damage_second: 'unknown', ratio: 2.8462 },
    ]);
  });

  it('leave out readings and estimates that cannot be true', async () => {
    const odd: readonly Given[] = [
      {
        odometer_km: 2_553_571_660,
        odometer_out_of_range: true,
        estimate_repair_price: -1,
        pre_accident_price: 100,
      },
      { odometer_km: 300, odometer_unit_uncertain: true, estimate_repair_price: 5, pre_accident_price: 0 },
      {
        odometer_km: 300,
        odometer_status_id: 5,
        estimate_repair_price: 5,
        pre_accident_price: 99_999_999_999,
      },
      { odometer_km: 300, odometer_status_id: 2 },
      { odometer_km: 0 },
    ];
    const fine = [1, 2, 3, 4, 5].map((n) => ({
      odometer_km: n * 1000,
      odometer_status_id: 1,
      estimate_repair_price: n,
      pre_accident_price: 10,
    }));
    const lots = [...odd, ...fine].map((given, place) => lot({ lot_id: place, ...given }));
    await computeMarts(lake, apart({ ...base, lots }), ...MARTS);
    expect(
      await texts(
        lake,
        `select odometer_lots, odometer_km_median, repair_lots, repair_share
         from damage_breakdown where level = 'model'`,
      ),
    ).toEqual([{ odometer_lots: 5, odometer_km_median: 3000, repair_lots: 5, repair_share: 0.3 }]);
  });
});

describe('the models', () => {
  beforeAll(async () => {
    await computeMarts(lake, base);
    // A model of the run alone leaves nothing behind, so here it becomes a file.
    const ofRun = readModels().filter(({ exists }) => exists === 'none');
    await computeModels(
      lake,
      ofRun.map((model) => ({ ...model, exists: 'file' })),
    );
  });

  const selected = readModels().filter(({ name }) => !OUTSIDE.includes(name));
  it.each(selected.map((model) => [model.name, model] as const))(
    '%s has the columns that its .yml describes',
    async (_name, model) => {
      expect(await compareColumns(lake.connection, model)).toEqual({ undescribed: [], missing: [] });
    },
  );

  it('pass their tests and checks on an empty lake with a run', async () => {
    const failed = (await runDataTests(lake.connection)).filter(({ failures }) => failures > 0);
    expect(failed).toEqual([]);
  });

  it('use the minimum group size of the last run', async () => {
    const lots = [...[4, 5].keys()].map((lot_id) =>
      lot({ lot_id, sale_date: '2026-08-01T15:00:00Z', status_id: SOLD, final_bid: 100 }),
    );
    const runs = [
      { run_id: 'r0', started_at: '2026-09-09T02:00:00Z', minimum_group: 9 },
      { run_id: 'r', started_at: '2026-09-10T02:00:00Z', minimum_group: 2 },
    ];
    await computeMarts(lake, apart({ ...base, runs, lots }));
    expect(await texts(lake, `select price_median from price_trends where level = 'generation'`)).toEqual([
      { price_median: 100 },
    ]);
    expect(await texts(lake, `select price_median from damage_breakdown where level = 'model'`)).toEqual([
      { price_median: 100 },
    ]);
    const failed = (await runDataTests(lake.connection)).filter(({ failures }) => failures > 0);
    expect(failed.map(({ model, test }) => `${model} ${test}`)).toEqual([]);
  });

  it('use only SQL that DuckDB and Spark share', () => {
    for (const { name, sql } of readModels()) {
      const code = sql.replaceAll(/--.*|'[^']*'/g, '');
      expect(code, name).not.toMatch(/\bqualify\b|\/\/|\[|\bepoch|\bstrftime|current_|\bnow\(/);
      expect(code, name).toBe(code.toLowerCase());
    }
  });
});
