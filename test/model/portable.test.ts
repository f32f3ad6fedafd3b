import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { LAYERS, readModels } from '../../src/core/model/model-files.js';
import { planModelTests } from '../../src/core/model/test-sql.js';
import { onlyDuckDB } from './portable.js';

const connection = await (await DuckDBInstance.create()).connect();

const files = [
  ...LAYERS.filter((layer) => layer !== 'seeds').map((layer) => `models/${layer}`),
  'checks',
].flatMap((folder) =>
  readdirSync(join(packageRoot, 'sql', folder))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => `${folder}/${file}`),
);

describe('SQL that both DuckDB and Spark run', () => {
  it.each(files)('%s', async (file) => {
    expect(await onlyDuckDB(connection, readFileSync(join(packageRoot, 'sql', file), 'utf8'))).toEqual([]);
  });

  it('covers the data tests of a model too', async () => {
    for (const { failing } of readModels().flatMap(planModelTests))
      if (failing !== undefined)
        expect(await onlyDuckDB(connection, `select 1 where ${failing}`)).toEqual([]);
  });
});

describe('what only DuckDB understands', () => {
  const found = (sql: string): Promise<readonly string[]> => onlyDuckDB(connection, sql);

  it.each([
    ['select a from t qualify row_number() over (order by a nulls last) = 1', 'qualify'],
    ['select l[1] from t', 'OPERATOR ARRAY_EXTRACT'],
    ['select 7 // 2', 'function ///2'],
    ['select unnest(l) from t', 'cross join lateral unnest(list) as name(column)'],
    ['select cast(a as varchar) from t', 'varchar: write string, since Spark wants a length'],
    ['select a::hugeint from t', 'type HUGEINT'],
    [
      'select round(a, 2) from t',
      'round(x * 100) / 100: Spark rounds the decimal text of a number, DuckDB the number',
    ],
    [
      "select concat(a, 'x') from t",
      '||: for a null, concat gives null in Spark and an empty text in DuckDB',
    ],
    ['select extract(dow from a) from t', 'a part of a date that Spark may count otherwise'],
    ['select a from t order by a', 'order by without nulls last'],
    ['select sum(a) over (order by b) from t', 'order by without nulls last'],
    ['select a from t limit 1', 'limit without order by'],
    ['select distinct on (a) a, b from t', 'distinct on'],
    ['select * exclude (a) from t', 'a star with columns(), exclude or replace'],
    ['select list_filter(l, lambda x: x > 1) from t', 'function list_filter/2'],
    ["select regexp_matches(a, '\\d') from t", 'a backslash in a text, which Spark reads as an escape'],
    ['from range(10)', 'table function range'],
    ["select a from t where a ilike 'b'", 'function ~~*/2'],
  ])('%s', async (sql, problem) => {
    expect(await found(sql)).toContain(problem);
  });

  it('does not include a list in a join, a text or a comment', async () => {
    const sql =
      "select u.v -- a varchar\nfrom t cross join lateral unnest(t.l) as u(v) where u.v <> 'varchar'";
    expect(await found(sql)).toEqual([]);
  });
});
