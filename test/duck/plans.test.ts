import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { configFor, silentReporter, temporaryFolder } from '../pipelines/support.js';
import { loopsIn, loopsOf, plansOf } from './plans.js';

/** Every kind of table that grows with the vehicles has more rows than a seed. */
const WORLD = { vehicles: 3_000, clock: new Date('2026-11-20T02:00:00Z') };

describe('the plans of joins', () => {
  const tables = `
    create table lots as select range as lot_id, range % 997 as vehicle_id, range % 97 as vin_head from range(300);
    create table vehicles as select range as vehicle_id from range(900);
    create table heads as select range as vin_head, 1 as model_id from range(3000);
    create table settings as select 5 as minimum;
    create table levels as select range as level from range(20)`;
  let instance: DuckDBInstance;
  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:');
  });
  afterAll(() => instance.closeSync());

  const joined = (on: string): string =>
    `select * from lots left join vehicles using (vehicle_id) left join heads on ${on}`;
  const cases: readonly (readonly [name: string, sql: string, loops: number])[] = [
    ['one side alone in ON', joined('vehicles.vehicle_id is null and heads.vin_head = lots.vin_head'), 1],
    [
      'the same condition inside the key',
      joined('heads.vin_head = case when vehicles.vehicle_id is null then lots.vin_head end'),
      0,
    ],
    ['an alternative in ON', joined('heads.vin_head = lots.vin_head or heads.model_id = lots.vehicle_id'), 1],
    ['two large sides without a condition', 'select * from lots cross join heads', 1],
    ['settings of one row', 'select * from lots cross join settings where lot_id > minimum', 0],
    ['a seed of 20 rows', 'select * from lots cross join levels', 0],
    [
      'one row of an aggregate',
      'select * from lots, (select max(vin_head) as most from heads) where lot_id > most',
      0,
    ],
    [
      'a list of all rows',
      'select * from lots cross join (select list(vin_head) as all_heads from heads)',
      0,
    ],
    ['values of the statement', 'select * from lots cross join (values (1), (2)) as v(n)', 0],
    ['a large side that is filtered', 'select * from lots cross join (from heads where model_id = 1)', 1],
    [
      'a common table expression of a large table',
      'with h as materialized (from heads) select * from lots, h as a, h as b where a.vin_head = b.vin_head',
      1,
    ],
  ];
  for (const [name, sql, loops] of cases)
    it(`have ${loops === 0 ? 'no loop' : 'a loop'} for ${name}`, async () => {
      const connection = await instance.connect();
      const planned = await plansOf(async () => {
        await connection.run(tables.replaceAll('create table', 'create or replace temp table'));
        await connection.run(sql);
      });
      const plan = planned.find((each) => each.sql === sql)?.plan;
      connection.closeSync();
      expect(plan === undefined ? undefined : loopsIn(plan)).toHaveLength(loops);
    });
});

it('the plans are also those of statements whose rows are streamed', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const sql = 'select count(*) from range(30) as a(n) left join range(40) as b(n) on a.n = b.n or a.n > 5';
  const planned = await plansOf(async () => {
    await (await connection.stream(sql)).getRows();
  });
  connection.closeSync();
  instance.closeSync();
  expect(planned.map((each) => each.sql)).toEqual([sql]);
  expect(planned[0]?.plan).toBeDefined();
});

it('the statements of a night have no join that loops over two large sides', {
  timeout: 180_000,
}, async () => {
  const folder = temporaryFolder();
  const sandbox = await startSandbox(WORLD);
  try {
    const planned = await plansOf(async () => {
      await nightly({
        config: configFor(sandbox.url, folder.path, { apiKey: sandbox.apiKey }),
        reporter: silentReporter(),
        now: () => WORLD.clock,
      });
    });
    expect(planned.filter(({ plan }) => plan !== undefined).length).toBeGreaterThan(300);
    expect(loopsOf(planned)).toEqual([]);
  } finally {
    await sandbox.close();
    folder.remove();
  }
});
