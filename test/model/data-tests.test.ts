import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeScratch } from '../../src/base/config/owned.js';
import { openSession, rows, type Session } from '../../src/base/duck/session.js';
import { readChecks } from '../../src/core/model/checks.js';
import { assertTests, runDataTests } from '../../src/core/model/data-tests.js';
import type { ColumnTest, Model, ModelTest } from '../../src/core/model/model-files.js';
import { runModels } from '../../src/core/model/run-models.js';

let session: Session;
let folder: string;
beforeAll(async () => {
  folder = makeScratch(join(tmpdir(), 'lotlake-data-tests-'));
  session = await openSession({ memory: '256MB', temp: join(folder, 'spill') });
  await session.connection.run(`
    create table numbers as select * from (values (1, 'a'), (2, 'b'), (3, null), (3, 'x')) as t(n, letter);
    create table parents as select * from (values ('a'), ('b')) as t(id)`);
});
afterAll(() => {
  session.close();
  rmSync(folder, { recursive: true, force: true });
});

const model = (name: string, sql: string, rest: Partial<Model> = {}): Model => ({
  name,
  sql,
  description: 'd',
  grain: 'g',
  key: ['n'],
  columns: {},
  tests: [],
  ...rest,
});

const found = async (column: string, test: ColumnTest | undefined, tests: ModelTest[] = []) => {
  const columns = { [column]: { description: 'd', tests: test === undefined ? [] : [test] } };
  const of = model('numbers', 'select 1', { key: ['n', 'letter'], columns, tests });
  const results = await runDataTests(session.connection, { models: [of], checks: [] });
  return results.slice(1).map(({ test, failures, sample }) => ({ test, failures, sample }));
};

describe('data tests', () => {
  it.each<[ColumnTest, number, string]>([
    [{ kind: 'not_null', severity: 'error' }, 1, 'not_null(letter)'],
    [{ kind: 'unique', severity: 'error' }, 0, 'unique(letter)'],
    [{ kind: 'accepted_values', values: ['a', 'b'], severity: 'error' }, 1, 'accepted_values(letter)'],
    [{ kind: 'accepted_values', values: ['a', 'b', 'x'], severity: 'error' }, 0, 'accepted_values(letter)'],
    [{ kind: 'relationships', to: 'parents.id', severity: 'error' }, 1, 'relationships(letter → parents.id)'],
  ])('of a column: %j', async (test, failures, label) => {
    expect(await found('letter', test)).toMatchObject([{ test: label, failures }]);
  });

  it('fail for a unique column with repeated values', async () => {
    const [result] = await found('n', { kind: 'unique', severity: 'error' });
    expect(result).toMatchObject({ failures: 1, sample: [{ n: 3, copies: 2 }] });
  });

  it('of whole rows fail if an expression is null', async () => {
    const expression = (sql: string): ModelTest => ({ kind: 'expression', sql, severity: 'warn' });
    const results = await found('n', undefined, [expression('n < 3'), expression("letter <> 'x'")]);
    expect(results.map(({ failures }) => failures)).toEqual([2, 2]);
    expect(results[0]?.sample).toEqual([
      { n: 3, letter: 'x' },
      { n: 3, letter: null },
    ]);
  });

  it('always test the key, nulls included', async () => {
    await session.connection.run(
      'create table twins as select * from (values (1, null), (1, null), (2, 1)) as t(a, b)',
    );
    const twins = model('twins', 'select 1', { key: ['a', 'b'] });
    const [key] = await runDataTests(session.connection, { models: [twins], checks: [] });
    expect(key).toMatchObject({ test: 'unique(a, b)', severity: 'error', failures: 1 });
  });

  it('show five failing rows at most', async () => {
    await session.connection.run('create or replace table many as select range as n from range(100)');
    const many = model('many', 'select 1', {
      tests: [{ kind: 'expression', sql: 'n < 0', severity: 'error' }],
    });
    const results = await runDataTests(session.connection, { models: [many], checks: [] });
    expect(results[1]).toMatchObject({ failures: 100, sample: [0, 1, 2, 3, 4].map((n) => ({ n })) });
  });

  it('of a check take their text and severity from its header', async () => {
    const checks = join(folder, 'odd_numbers.sql');
    writeFileSync(
      checks,
      '-- description: Numbers are even.\n-- severity: warn\nselect n from numbers where n % 2 = 1\n',
    );
    const results = await runDataTests(session.connection, { models: [], checks: readChecks(folder) });
    expect(results).toMatchObject([
      {
        model: 'checks',
        test: 'odd_numbers',
        severity: 'warn',
        failures: 3,
        sample: [{ n: 1 }, { n: 3 }, { n: 3 }],
      },
    ]);
    writeFileSync(checks, '-- description: Numbers are even.\nselect 1');
    expect(() => readChecks(folder)).toThrow(/odd_numbers\.sql[\s\S]*severity/);
  });

  it('name the test whose SQL is wrong', async () => {
    const wrong = model('numbers', 'select 1', {
      tests: [{ kind: 'expression', sql: 'nothing > 1', severity: 'warn' }],
    });
    await expect(runDataTests(session.connection, { models: [wrong], checks: [] })).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: expect.stringMatching(/expression\(nothing > 1\) of numbers/),
    });
  });
});

describe('assertTests', () => {
  const result = (severity: 'error' | 'warn', failures: number) => ({
    model: 'm',
    test: `not_null(${severity})`,
    severity,
    failures,
    sample: [],
    sql: '',
  });

  it('holds the run only for failed tests of severity error, and lists them', () => {
    expect(() => assertTests([result('warn', 2), result('error', 0)], '')).not.toThrow();
    const held = expect.objectContaining({
      code: 'MODEL_TESTS_FAILED',
      outcome: 'held',
      message: '1 data test failed: m: not_null(error), 3 rows',
      hint: 'see',
    });
    expect(() => assertTests([result('warn', 2), result('error', 3)], 'see')).toThrow(held);
  });
});

describe('runModels', () => {
  it('makes tables and files in order, sorted by key', async () => {
    const second = model('a_second', 'select n, count(*) as c from b_first group by n');
    const first = model('b_first', 'select n from numbers -- a comment at the end');
    const results = await runModels(session.connection, {
      target: folder,
      models: [second, first],
    });
    expect(results.map(({ name, key, rows }) => ({ name, key, rows }))).toEqual([
      { name: 'b_first', key: ['n'], rows: 4 },
      { name: 'a_second', key: ['n'], rows: 3 },
    ]);
    const file = join(folder, 'a_second', 'data_0.parquet');
    expect(await rows(session.connection, `select * from '${file}'`)).toEqual([
      { n: 1, c: 1 },
      { n: 2, c: 1 },
      { n: 3, c: 2 },
    ]);
  });

  it('names the failing model, and starts no model if a reference is unknown', async () => {
    const run = (...models: Model[]) => runModels(session.connection, { target: folder, models });
    await expect(run(model('bad', 'select nothing as n from numbers'))).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: expect.stringMatching(/^model bad failed: .*nothing/),
    });
    const good = model('good', 'select 1 as n');
    await expect(run(good, model('lost', 'select n from nowhere'))).rejects.toMatchObject({
      code: 'MODEL_GRAPH',
    });
    expect(existsSync(join(folder, 'good'))).toBe(false);
  });
});
