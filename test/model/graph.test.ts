import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeScratch } from '../../src/base/config/owned.js';
import { packageFile } from '../../src/base/config/package-root.js';
import { openSession, rows, type Session } from '../../src/base/duck/session.js';
import { type Model, readLayer, readModels, readModelsOf } from '../../src/core/model/model-files.js';
import { withReferences } from '../../src/core/model/references.js';
import { planModels, runModels, sharedSteps } from '../../src/core/model/run-models.js';
import { OUTSIDE } from '../../src/core/model/sql-tree.js';
import { need } from '../served.js';

let session: Session;
let folder: string;
beforeAll(async () => {
  folder = makeScratch(join(tmpdir(), 'lotlake-graph-'));
  session = await openSession({ memory: '256MB', temp: join(folder, 'spill') });
});
afterAll(() => {
  session.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The names that a SELECT reads. */
const refs = async (sql: string, name = 'm'): Promise<readonly string[] | undefined> =>
  (await withReferences(session.connection, [{ name, sql }]))[0]?.references;
const node = (name: string, ...references: string[]) => ({ name, references });
const none: ReadonlySet<string> = new Set();

describe('withReferences', () => {
  it('finds tables of joins with USING, of unions and of nested queries', async () => {
    expect(
      await refs(`
        select a.x, (select max(y) from runs) as y from Lots as a
        join main.prices using (lot_id) left join vehicles as v on v.vehicle_id = a.vehicle_id
        where exists (select 1 from states) and a.x in (select x from cities)
        union all select x, y from (select * from titles)`),
    ).toEqual(['cities', 'lots', 'prices', 'runs', 'states', 'titles', 'vehicles']);
  });

  it('finds the settings that a function reads', async () => {
    expect(await refs('select case when enough(count(*)) then 1 end from lots')).toEqual([
      'dim_settings',
      'lots',
    ]);
  });

  it('does not mistake CTE names for tables', async () => {
    expect(await refs('with a as (select * from lots), b as (select * from A) select * from b')).toEqual([
      'lots',
    ]);
  });

  it('knows where a name is a CTE and where it is a table again', async () => {
    const inner = '(with prices as (select * from lots) select * from prices) as x';
    expect(await refs(`select * from ${inner} cross join prices`)).toEqual(['lots', 'prices']);
    expect(await refs('with prices as (select 1 as x) select * from prices, main.prices as p')).toEqual([
      'prices',
    ]);
    expect(await refs('with a as (select * from b), b as (select 1) select * from a, b')).toEqual(['b']);
  });

  it('lets a recursive CTE read itself', async () => {
    const sql =
      'with recursive t as (select 1 as n from runs union all select n + 1 from t where n < 3) select * from t';
    expect(await refs(sql)).toEqual(['runs']);
  });

  it('names the model whose SQL is not one SELECT', async () => {
    const failed = { code: 'MODEL_FAILED', stage: 'model' };
    for (const sql of ['select from where', 'create table x as select 1', 'select 1; select 2']) {
      await expect(refs(sql, 'odd')).rejects.toMatchObject(failed);
      await expect(refs(sql, 'odd')).rejects.toThrow(/model odd/);
    }
  });
});

describe('planModels', () => {
  it('puts a model after the models that it reads, and otherwise sorts by name', () => {
    const models = [node('a', 'c', 'lots'), node('b'), node('c', 'd'), node('d', 'lots')];
    const order = (given: typeof models) => planModels(given, new Set(['lots'])).map(({ name }) => name);
    expect(order(models)).toEqual(['d', 'c', 'a', 'b']);
    expect(order([...models].reverse())).toEqual(['d', 'c', 'a', 'b']);
  });

  it('puts first what the fit of prices needs, so that the others can run beside the fit', () => {
    const models = [node('a'), node('b', 'fit'), node('fit', 'm'), node('m', 'z'), node('z')];
    expect(planModels(models, none).map(({ name }) => name)).toEqual(['z', 'm', 'fit', 'a', 'b']);
  });

  it('names the models of a cycle', () => {
    const models = [node('a', 'b'), node('b', 'c'), node('c', 'b')];
    expect(() => planModels(models, none)).toThrow(/b → c → b/);
    expect(() => planModels([node('a', 'a')], none)).toThrow(/a → a/);
  });

  it('names the model and its unknown reference', () => {
    expect(() => planModels([node('a', 'lots')], none)).toThrow('model a reads lots');
  });

  it('says what to read instead of a mart that is gone', () => {
    const hint = expect.stringContaining("where level = 'seller'");
    expect(() => planModels([node('a', 'seller_profiles')], none)).toThrow(expect.objectContaining({ hint }));
  });

  it('names no mart as gone that there is', () => {
    const names = new Set([...readModels(), ...readLayer('examples')].map(({ name }) => name));
    const gone = Object.keys(Object(load(packageFile('sql/models/gone.yml'))));
    expect(
      gone.filter((name) => names.has(name) && !readLayer('examples').some((each) => each.name === name)),
    ).toEqual([]);
  });
});

describe('a step of the run', () => {
  const model = (name: string, sql: string, rest: Partial<Model> = {}): Model => ({
    ...{
      name,
      sql,
      description: 'd',
      grain: 'g',
      key: ['x'],
      columns: { x: { description: 'n', tests: [] } },
    },
    ...{ tests: [], ...rest },
  });

  it('is computed once if several models read it, and leaves nothing behind', async () => {
    const target = join(folder, 'marts');
    const models = [
      // a view would draw another number for each reader
      model('drawn', 'select random() as x', { exists: 'none' }),
      model('alone', 'select x from drawn', { exists: 'none' }),
      model('first', 'select x from drawn'),
      model('second', 'select x from alone'),
    ];
    await runModels(session.connection, { target, models });
    const [row] = await rows(session.connection, 'select (from first) = (from second) as is_same');
    expect(row).toEqual({ is_same: true });
    expect(readdirSync(target).sort()).toEqual(['first', 'second']);
  });

  it('is shared only if it is read more than once', () => {
    const reader = (name: string, ...references: string[]) => ({ ...model(name, ''), references });
    const step = { ...reader('rounds', 'attempts'), exists: 'none' as const };
    const attempts = { ...reader('attempts'), exists: 'none' as const };
    const models = [attempts, step, reader('a', 'rounds'), reader('b', 'rounds')];
    expect([...sharedSteps(models)]).toEqual(['rounds']);
    expect([...sharedSteps(models.slice(0, 3))]).toEqual([]);
  });
});

describe('a step outside of SQL', () => {
  it.each(OUTSIDE)('%s is one by its .yml, and gives each of its tables that a model reads', async (step) => {
    const all = readModels();
    expect(all.flatMap(({ name, gives }) => (gives === undefined ? [] : [name])).sort()).toEqual(
      [...OUTSIDE].sort(),
    );
    const { gives, exists } = need(
      all.find(({ name }) => name === step),
      step,
    );
    expect(exists).toBe('none');
    const readers = all.filter(({ sql }) => new RegExp(`\\b(from|join) ${step}\\.`).test(sql));
    expect(readers.length).toBeGreaterThan(0);
    for (const { name, sql } of readers) {
      expect(await refs(sql), name).toContain(step);
      const read = [...sql.matchAll(new RegExp(`\\b${step}\\.(\\w+)`, 'g'))].map(([, table]) => table);
      expect(gives, name).toEqual(expect.arrayContaining(read));
    }
  });
});

describe('readModelsOf', () => {
  const write = (yml: string) => {
    writeFileSync(join(folder, 'odd.sql'), 'select 1 as x');
    writeFileSync(join(folder, 'odd.yml'), yml);
  };
  const columns = 'columns: { x: { description: a number } }';

  it('fills in defaults', () => {
    write(`description: d\ngrain: g\nkey: [x]\n${columns}`);
    expect(readModelsOf(folder)).toMatchObject([{ name: 'odd', tests: [], columns: { x: { tests: [] } } }]);
  });

  it.each([
    ['a missing member', `grain: g\nkey: [x]\n${columns}`, /odd\.yml: [\s\S]*description/],
    [
      'a test of an unknown kind',
      'description: d\ngrain: g\nkey: [x]\ncolumns: { x: { description: n, tests: [nonsense] } }',
      /odd\.yml: [\s\S]*columns\.x\.tests/,
    ],
    [
      'a member that nothing reads',
      `descriptio: d\ndescription: d\ngrain: g\nkey: [x]\n${columns}`,
      /descriptio/,
    ],
    ['a second fit', `gives: [x]\ndescription: d\ngrain: g\nkey: [x]\n${columns}`, /gives/],
    ['a key that is not a column', `description: d\ngrain: g\nkey: [y]\n${columns}`, /odd\.yml: y/],
    ['text that is not YAML', 'description: [', /odd\.yml/],
  ])('says where %s is', (_what, yml, message) => {
    write(yml);
    expect(() => readModelsOf(folder)).toThrow(message);
  });
});
