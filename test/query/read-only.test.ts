import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, it } from 'vitest';
import { readQuery } from '../../src/core/model/read-only.js';

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});

const TABLES = ['lots', 'sales', 'vehicles'];

const needed = async (sql: string): Promise<readonly string[]> =>
  (await readQuery(connection, sql)).needed(TABLES);

describe('a query', () => {
  it.each([
    'from lots asof join sales using (lot_id)',
    'with recursive t(n) as (select 1 union all select n + 1 from t where n < 5) from t',
    'select * exclude (a) replace (b as b) from lots qualify row_number() over (partition by b) = 1',
    'select distinct on (b) * from lots using sample 10%',
    'select grouping(a) from lots group by cube (a, b), rollup (a), grouping sets ((a))',
    "select list_transform([1], lambda x: x + 1), columns('a'), {'a': 1}.a, [1, 2][1:2], map {1: 2} from lots",
    'from lots semi join sales using (a) anti join vehicles using (a) positional join lots z',
    'select a from lots union by name select b from lots except all select 1 order by all limit 10%',
    'pivot lots on domain_id in (1, 3); -- a comment',
    'unpivot lots on a, b',
    "from lots, lateral (select lots.a + 1), range(3), unnest([1]) u, glob('*')",
    'describe (summarize lots)',
    'table lots',
  ])('is a statement that reads: %s', async (sql) => {
    expect((await readQuery(connection, sql)).sql).toBe(sql);
  });

  it('is explained like the query itself', async () => {
    const { sql, select } = await readQuery(connection, '/* a */ Explain -- b\n Analyze(select 1); -- c');
    expect(select).toBe('(select 1); -- c');
    expect(sql).toMatch(/^explain Analyze\n\(select 1\); -- c$/);
  });
});

describe('a statement that writes or is not a single query', () => {
  it.each([
    "copy (select 1) to '/tmp/lotlake-written.csv'",
    'create table t as select 1',
    'drop view lots',
    'insert into lots select 1',
    "attach '/tmp/x.db'",
    "explain analyze copy (select 1) to '/tmp/lotlake-written.csv'",
    'select 1; select 2',
    '',
  ])('is refused: %s', async (sql) => {
    await expect(readQuery(connection, sql)).rejects.toMatchObject({ stage: 'query', outcome: 'usage' });
  });
});

describe('the tables that a query needs', () => {
  it.each([
    ['select * from lots', ['lots']],
    ['from "LOTS" join memory.main.Sales using (lot_id)', ['lots', 'sales']],
    ['select (select max(lot_id) from sales) from range(3)', ['sales']],
    ['with a as (from lots) from a', ['lots']],
    ['with lots as (from lots) from lots', ['lots']],
    ['summarize lots', ['lots']],
    ['explain from sales', ['sales']],
    ["select 'sales' as lots -- vehicles", []],
  ])('are those that it names: %s', async (sql, tables) => {
    expect(await needed(sql)).toEqual(tables);
  });

  it.each([
    'show tables',
    'describe',
    'from information_schema.columns',
    'from duckdb_views()',
    "from query_table('lots')",
    'from histogram(lots, bid)',
    'from sqlite_master',
    "from read_parquet('output/lake/current/lots/**/*.parquet')",
    'from lotz',
  ])('are all tables if it may read any: %s', async (sql) => {
    expect(await needed(sql)).toEqual(TABLES);
  });
});
