import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runSparkModels, type SparkTable } from '../../src/beyond/spark/spark-models.js';
import type { Model } from '../../src/core/model/model-files.js';
import { planModelTests } from '../../src/core/model/test-sql.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** A command in place of Spark. It keeps the script and answers the steps in order. */
function answering(...answers: readonly string[]): readonly string[] {
  const path = join(folder.path, 'spark-sql');
  const lines = ['-- lotlake on Spark 4.1.4', ...answers.flatMap((line) => [line, '-- lotlake step'])];
  const keep = `for last; do :; done; cp "\${last#file:}" ${folder.path}/script.sql`;
  writeFileSync(path, `#!/bin/sh\n${keep}\ncat <<'END'\n${lines.join('\n')}\nEND\n`);
  chmodSync(path, 0o755);
  return [path];
}

const ROW = '-- lotlake row ';
const ANSWERS = ['', `${ROW}{"rows":7}`, `${ROW}{"0":0,"1":3}`, `${ROW}{"0":1}`];

const lots: SparkTable = {
  name: 'lots',
  columns: [
    { name: 'lot_id', type: 'BIGINT' },
    { name: 'domain_id', type: 'BIGINT' },
    { name: 'year', type: 'INTEGER' },
    { name: 'tags', type: 'VARCHAR[]' },
  ],
  partitioned: true,
  folder: "s3a://lake/it's[1]/tables/lots",
  files: ['a.parquet', 'b.parquet'],
};

const sold: Model = {
  name: 'sold',
  sql: 'select lot_id from lots',
  description: 'Lots.',
  grain: 'one row a lot',
  key: ['lot_id'],
  columns: { lot_id: { description: 'Lot.', tests: [{ kind: 'not_null', severity: 'warn' }] } },
  tests: [],
};

const check = { model: 'checks', test: 'lots_are_sold', severity: 'error', sql: 'select 1' } as const;

describe('models on Spark', () => {
  const run = (submit: readonly string[]) =>
    runSparkModels(
      { tables: [lots], models: [sold], tests: [planModelTests(sold), [check]], target: 'file:/marts' },
      { submit },
    );

  it('are reported with their rows, and data tests with their failing rows', async () => {
    const { models, tests } = await run(answering(...ANSWERS));
    expect(models).toMatchObject([{ name: 'sold', rows: 7, key: ['lot_id'] }]);
    expect(tests).toEqual([
      { model: 'sold', test: 'unique(lot_id)', severity: 'error', failures: 0 },
      { model: 'sold', test: 'not_null(lot_id)', severity: 'warn', failures: 3 },
      { model: 'checks', test: 'lots_are_sold', severity: 'error', failures: 1 },
    ]);
  });

  it('read only the files of their snapshot, with partition columns in the types of DuckDB', async () => {
    await run(answering(...ANSWERS));
    const script = readFileSync(join(folder.path, 'script.sql'), 'utf8');
    const [pattern, root] = ['\\\\[1\\\\]', '[1]'].map((at) => `s3a://lake/it\\'s${at}/tables/lots`);
    expect(script).toContain(
      `create temporary view "lots" ("lot_id" bigint, "domain_id" bigint, "year" int, "tags" array<string>, "month" string)` +
        ` using parquet options (path '${pattern}/domain_id=*', basePath '${root}', pathGlobFilter '{a.parquet,b.parquet}')`,
    );
    expect(script).toContain(`insert overwrite directory 'file:/marts/sold' using parquet`);
  });

  it('write what other models read alone into a folder that readers skip', async () => {
    const step: Model = { ...sold, name: 'offers', exists: 'none' };
    const reader = { ...sold, name: 'a', sql: 'select lot_id from offers', references: ['offers'] };
    const submit = answering('', '', `${ROW}{"rows":7}`);
    const results = await runSparkModels(
      { tables: [lots], models: [step, reader], tests: [], target: 'file:/marts' },
      { submit },
    );
    expect(results.models.map(({ name }) => name)).toEqual(['a']);
    const script = readFileSync(join(folder.path, 'script.sql'), 'utf8');
    expect(script).toContain(`insert overwrite directory 'file:/marts/_steps/offers'`);
    expect(script).toContain(`create temporary view "offers"`);
  });

  it.each([
    ['no row', ''],
    ['too few numbers', `${ROW}{"0":0}`],
    ['no number', `${ROW}{"0":0,"1":null}`],
    ['two rows', `${ROW}{"0":0,"1":3}\n${ROW}{"0":0,"1":3}`],
  ])('do not pass data tests with %s', async (_, answer) => {
    const [tables = '', models = '', , check = ''] = ANSWERS;
    await expect(run(answering(tables, models, answer, check))).rejects.toMatchObject({
      code: 'SPARK_FAILED',
      message: 'Spark gave no answer to the tests of sold',
    });
  });

  it('name a type that Spark lacks', async () => {
    const columns = [{ name: 'span', type: 'INTERVAL' }];
    const given = { tables: [{ ...lots, columns }], models: [], tests: [], target: 'file:/marts' };
    await expect(runSparkModels(given, { submit: answering('') })).rejects.toMatchObject({
      code: 'SPARK_TYPE',
    });
  });

  it('fail with the name of the model', async () => {
    await expect(run(answering(''))).rejects.toMatchObject({
      code: 'SPARK_FAILED',
      message: expect.stringContaining('Spark failed in model sold'),
    });
  });
});
