import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runEachTest } from '../../src/ask/docs/test-results.js';
import { readConfig } from '../../src/base/config/config.js';
import { ConfigError } from '../../src/base/config/lotlake-error.js';
import { makeScratch } from '../../src/base/config/owned.js';
import { openSession, rows, type Session } from '../../src/base/duck/session.js';
import { selectModels } from '../../src/cli/select-models.js';
import { dictionary } from '../../src/core/model/dictionary.js';
import { readLayer } from '../../src/core/model/model-files.js';
import { readOwnModels } from '../../src/core/model/read-own.js';
import { runOwnModels } from '../../src/core/model/run-own.js';
import { pageFiles } from '../docs/own-models-page.js';

let session: Session;
let root: string;
beforeAll(async () => {
  root = makeScratch(join(tmpdir(), 'lotlake-own-'));
  session = await openSession({ memory: '256MB', temp: join(root, 'spill') });
  await session.connection.run(`
    create table lots as select i as lot_id, 3::bigint as domain_id, 900.0::double as buy_now, false as archived from range(3) t(i);
    create table price_estimates as select lot_id, 'USD' as currency, 1000.0::double as estimate, 700.0::double as low_80,
      true as is_offered, true as is_currency_known from lots where lot_id > 0`);
});
afterAll(() => {
  session.close();
  rmSync(root, { recursive: true, force: true });
});

const YML = (column = 'lot_id', tests = '[]'): string =>
  `description: Lots.\ngrain: one row a lot\nkey: [${column}]\ncolumns: { ${column}: { description: Lot. } }\ntests: ${tests}\n`;

let folders = 0;
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = join(root, `models-${folders++}`);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const read = (files: Readonly<Record<string, string>>) =>
  readOwnModels(session.connection, { models: folderOf(files) });
async function run(files: Readonly<Record<string, string>>) {
  const warnings: string[] = [];
  const target = join(root, `target-${folders}`);
  const own = await read(files);
  const limits = { seconds: 60, freeBytes: () => 1e12 };
  const warn = (text: string) => void warnings.push(text);
  const done = await runOwnModels(session.connection, own, {
    ...{ target, limits, warn },
    failed: join(root, `failed-${folders}`),
  });
  return { ...done, warnings };
}

/** Why a night leaves out the only model or check of a folder. */
async function reasonOf(files: Readonly<Record<string, string>>): Promise<string> {
  const { models, checks, leftOut } = await read(files);
  expect([...models, ...checks]).toEqual([]);
  expect(leftOut).toHaveLength(1);
  return String(leftOut[0]?.error.message);
}

describe('own models', () => {
  it.each([
    ['lots', 'select lot_id from lots', /lotlake has a table, mart or check lots itself/],
    ['sales', 'select lot_id from lots', /lotlake has a table, mart or check sales itself/],
    ['checks', 'select lot_id from lots', /checks itself/],
    ['My-Lots', 'select lot_id from lots', /My-Lots\.sql: a name has the letters/],
    ['mine', "copy lots to 'x.parquet'", /mine\.sql: only queries are allowed/],
    ['mine', "attach 'x.db'", /mine\.sql: only queries are allowed/],
    ['mine', 'select lot_id from lots; drop table lots', /mine\.sql: expected one statement|only queries/],
    ['mine', "select lot_id from enable_logging('QueryLog')", /enable_logging\(\) does more than read/],
    ['mine', 'select lot_id from', /mine\.sql: .*syntax error/],
    ['mine', 'select lot_id from no_such_table', /mine reads no_such_table, which is neither/],
    ['mine', 'select lot_id from mine', /circle: mine → mine/],
  ])('leaves out %s as %s', async (name, sql, message) => {
    expect(await reasonOf({ [`${name}.sql`]: sql, [`${name}.yml`]: YML() })).toMatch(message);
  });

  it('leaves out a model that reads or replaces a step of the run, and one that is such a step', async () => {
    const sql = 'select lot_id from rounds';
    expect(await reasonOf({ 'mine.sql': sql, 'mine.yml': YML() })).toContain(
      'model mine reads rounds, which is neither a model nor a table',
    );
    expect(await reasonOf({ 'rounds.sql': sql, 'rounds.yml': YML() })).toContain('check rounds itself');
    const step = { 'step.sql': 'select lot_id from lots', 'step.yml': `exists: none\n${YML()}` };
    expect(await reasonOf(step)).toMatch(/step\.yml: exists: none/);
  });

  it('leaves out a test that does more than read, and a check with the name of a check of lotlake', async () => {
    const tests = '[{ kind: expression, sql: "true) is not true); drop table lots; --" }]';
    const files = { 'mine.sql': 'select lot_id from lots', 'mine.yml': YML('lot_id', tests) };
    expect(await reasonOf(files)).toMatch(/test expression.* of mine: /s);
    const check = '-- description: x\n-- severity: warn\nselect 1';
    expect(await reasonOf({ 'checks/lots_have_vehicles.sql': check })).toContain('lots_have_vehicles itself');
  });

  it('leaves out a failing model and its readers, and publishes the rest', async () => {
    const { models, own, warnings } = await run({
      'good.sql': 'select lot_id from lots',
      'good.yml': YML(),
      'bad.sql': 'select no_such as lot_id from lots',
      'bad.yml': YML(),
      'on_bad.sql': 'select lot_id from bad',
      'on_bad.yml': YML(),
      'decimals.sql': 'select lot_id * 0.5 as half from lots',
      'decimals.yml': YML('half'),
      'more.sql': 'select lot_id, domain_id from lots',
      'more.yml': YML(),
      'untested.sql': 'select lot_id from lots',
      'untested.yml': YML('lot_id', '[{ kind: expression, sql: no_such > 0 }]'),
      'checks/lost.sql': '-- description: x\n-- severity: warn\nselect * from bad',
    });
    expect(models.map(({ name, rows: count }) => [name, count])).toEqual([['good', 3]]);
    expect(own.left_out).toMatchObject([
      { name: 'bad', reason: expect.stringContaining('no_such') },
      { name: 'decimals', reason: expect.stringContaining('half is DECIMAL(21,1); cast it') },
      { name: 'more', reason: expect.stringContaining('does not describe the column domain_id') },
      { name: 'on_bad', reason: 'it reads a model that is left out: bad' },
      { name: 'untested', reason: expect.stringContaining('cannot be run') },
      { name: 'checks/lost' },
    ]);
    expect(warnings).toHaveLength(own.left_out.length);
    const views = await rows(session.connection, 'select view_name from duckdb_views() where not internal');
    expect(views.map(({ view_name }) => view_name)).toEqual(['good']);
  });

  it('leaves out what no manifest could hold, and what its tests or checks refuse', async () => {
    const check = (sql: string): string => `-- description: x\n-- severity: error\n${sql}`;
    const { models, own, failed, warnings } = await run({
      'unnamed.sql': 'select lot_id, count(*) from lots group by lot_id',
      'unnamed.yml': YML(),
      'twice.sql': 'select 7 as lot_id from lots',
      'twice.yml': YML(),
      'accused.sql': 'select lot_id from lots',
      'accused.yml': YML(),
      'reader.sql': 'select lot_id from accused',
      'reader.yml': YML(),
      'constructor.sql': 'select lot_id from lots; -- all',
      'constructor.yml': YML(),
      'checks/before.sql': check('select lot_id from reader where lot_id < 0'),
      'checks/finds.sql': check('select lot_id from accused;'),
    });
    expect(models.map(({ name }) => name)).toEqual(['constructor']);
    expect(own.left_out).toMatchObject([
      { name: 'twice', reason: '1 data test failed: twice: unique(lot_id), 1 row' },
      { name: 'unnamed', reason: expect.stringContaining('cannot be named count_star()') },
      { name: 'checks/finds', reason: '1 data test failed: checks: finds, 3 rows' },
      { name: 'accused', reason: 'the check finds finds rows that must not be' },
      { name: 'reader', reason: 'it reads a model that is left out: accused' },
      { name: 'checks/before', reason: 'it reads a model that is left out: reader' },
    ]);
    expect(warnings).toHaveLength(own.left_out.length);
    const kept = await Promise.all(failed.map(({ sql }) => rows(session.connection, sql)));
    expect(kept.map((each) => each.length)).toEqual([1, 3]);
  });

  it('from a manifest run no test that does more than read', async () => {
    const sql = 'select 1); drop table lots; select (1';
    const check = { model: 'checks', test: 'evil', description: 'x', severity: 'warn', sql };
    const { notRun } = await runEachTest(session.connection, {
      own: { models: [], checks: [check], left_out: [] },
    });
    expect(notRun.at(-1)).toMatchObject({ name: 'evil', error: { code: 'QUERY_FAILED' } });
    expect(await rows(session.connection, 'select count(*) as n from lots')).toEqual([{ n: 3 }]);
  });

  it('are described as the manifest records them', async () => {
    const { own } = await run(pageFiles());
    const kept = JSON.parse(JSON.stringify(own));
    const columns = [{ name: 'share', type: 'DOUBLE' }];
    const entries = dictionary({
      tables: {},
      views: {},
      marts: { bargains: { columns, rows: 2 } },
      own: kept,
    });
    expect(entries.at(-1)).toMatchObject({
      ...{ name: 'bargains', kind: 'mart', key: ['lot_id'], rows: 2 },
      columns: [{ name: 'share', description: 'Buy Now price as a share of the estimate.' }],
    });
  });

  it('gives what docs/ask/your-own-models.md shows', async () => {
    const { models, tests, own } = await run(pageFiles());
    expect(own.left_out).toEqual([]);
    expect(models).toMatchObject([{ name: 'bargains', rows: 2 }]);
    expect(tests.filter(({ failures }) => failures > 0)).toEqual([]);
    expect(tests.at(-1)?.test).toBe('bargains_are_offered');
  });

  it('are beside the settings file, or in the configured folder', () => {
    const cwd = folderOf({ 'models/a.sql': '', 'other/lotlake.config.json': '{}', 'other/models/a.sql': '' });
    const folderIn = (flags: object) => readConfig(flags, { env: {}, cwd }).models;
    // A folder of that name may belong to something else.
    expect(folderIn({})).toBeUndefined();
    expect(folderIn({ configFile: 'other/lotlake.config.json' })).toBe(join(cwd, 'other', 'models'));
    expect(folderIn({ models: 'other' })).toBe(join(cwd, 'other'));
    expect(() => folderIn({ models: 'none' })).toThrow('there is no folder');
    expect(readConfig({}, { env: {}, cwd: join(cwd, 'models') }).models).toBeUndefined();
  });
});

describe('an example', () => {
  const readWith = (examples: readonly string[], files?: Readonly<Record<string, string>>) =>
    readOwnModels(session.connection, {
      examples: [...examples],
      ...(files === undefined ? {} : { models: folderOf(files) }),
    });

  it('that is named runs like a model of the user, and others do not', async () => {
    const { models } = await readWith(['reserve_gap', 'odometer_curve']);
    expect(models.map(({ name, isOwn }) => [name, isOwn])).toEqual([
      ['odometer_curve', true],
      ['reserve_gap', true],
    ]);
  });

  it('that does not exist is refused with the names of those that do', async () => {
    const refused = await readWith(['reserve_gap', 'reserves']).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConfigError);
    expect(refused).toMatchObject({
      message: 'examples: reserves is no example',
      hint: `examples: ${readLayer('examples')
        .map(({ name }) => name)
        .join(', ')}`,
    });
  });

  it('takes its name from a model of the user only if it is switched on', async () => {
    const files = { 'reserve_gap.sql': 'select lot_id from lots', 'reserve_gap.yml': YML() };
    const { models, leftOut } = await readWith(['reserve_gap'], files);
    expect(models.map(({ sql }) => sql.length)).not.toContain(files['reserve_gap.sql'].length);
    expect(leftOut[0]?.error.message).toContain('reserve_gap itself');
    expect((await readWith(['odometer_curve'], files)).models.map(({ name }) => name)).toEqual([
      'odometer_curve',
      'reserve_gap',
    ]);
  });
});

describe('selectModels', () => {
  const node = (name: string, ...references: string[]) => ({ name, references });
  const models = [
    node('a', 'lots'),
    node('b', 'a'),
    { ...node('e', 'a'), exists: 'none' as const },
    node('price_inputs', 'a', 'e'),
    { ...node('fit', 'price_inputs'), exists: 'none' as const },
    node('c', 'b', 'fit'),
    node('d', 'lots'),
  ];
  it.each([
    ['b', ['b']],
    ['B', ['b']],
    ['a+', ['a', 'b', 'e', 'price_inputs', 'fit', 'c']],
    ['+b', ['a', 'b']],
    ['+b+', ['a', 'b', 'fit', 'c']],
    ['d, b', ['b', 'd']],
    ['d a', ['a', 'd']],
    ['c', ['fit', 'c']],
  ])('%s', (selection, names) => {
    expect(selectModels(models, selection).map(({ name }) => name)).toEqual(names);
  });

  it('names the known models', () => {
    expect(() => selectModels(models, 'f+')).toThrow('there is no mart f');
  });
});
