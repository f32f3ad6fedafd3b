import { copyFileSync, mkdirSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterEach, describe, expect, it } from 'vitest';
import { ownAlarms } from '../../src/ask/report/alarms.js';
import { literal } from '../../src/base/duck/session.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { readManifest } from '../../src/core/lake/manifest.js';
import { viewOn } from '../../src/core/lake/views.js';
import { printedBy } from '../cli/support.js';
import { exportTo, filesBelow, type HandMade, handMadeLake, LOTS, SALES, SNAPSHOT } from './support.js';

const ended: (() => void)[] = [];
afterEach(() => {
  for (const end of ended.splice(0)) end();
});

async function setUp(below = ''): Promise<HandMade & { snapshot: string }> {
  const lake = await handMadeLake({ lots: LOTS }, { sales: SALES }, below);
  ended.push(lake.remove);
  return { ...lake, snapshot: join(lake.config.output, 'lake', 'snapshots', SNAPSHOT) };
}

const answer = async (lake: HandMade, sql: string): Promise<string> =>
  String(await printedBy(lake.config.output, 'query', '--format', 'csv', sql));

const MONTHS =
  'select domain_id, month, count(*) as n, typeof(any_value(domain_id)) as t from lots group by all order by all';

/** Names that DuckDB would take for a partition, or that are hard to quote. */
const FOLDERS = [
  'month=1999-11',
  'domain_id=77',
  'domain_id=7/month=1999-11',
  'year=1999/month=11',
  'env=prod',
  'lot_id=5',
  'filename=x',
  "it's = 100%",
  'lots/domain_id=3/month=2026-11',
];

describe('a folder above the lake', () => {
  it.each(FOLDERS)('means nothing: %s', async (name) => {
    const [plain, strange] = [await setUp(), await setUp(name)];
    expect(strange.config.output).toContain(name);
    expect(await answer(strange, MONTHS)).toBe(await answer(plain, MONTHS));
    const described = 'select column_name, column_type from (describe lots)';
    expect(await answer(strange, described)).toBe(await answer(plain, described));
  });

  it('means nothing to the views of the warehouse, wherever they are told to look', async () => {
    const [plain, strange] = [await setUp(), await setUp('domain_id=7/month=1999-11')];
    const read = async (named: string, folder?: string): Promise<unknown> => {
      const instance = await DuckDBInstance.create(':memory:');
      const connection = await instance.connect();
      if (folder !== undefined) await connection.run(`set variable lotlake_snapshot = ${literal(folder)}`);
      for (const [name, table] of Object.entries(readManifest(plain.snapshot).tables))
        await connection.run(viewOn(named, { ...table, name }));
      const rows = (await connection.runAndReadAll(MONTHS)).getRowsJson();
      connection.closeSync();
      instance.closeSync();
      return rows;
    };
    const expected = await read(plain.snapshot);
    expect(await read(strange.snapshot)).toEqual(expected);
    expect(await read('/nowhere', strange.snapshot)).toEqual(expected);
  });
});

describe('a file that is not as the manifest says', () => {
  const fileIn = (snapshot: string): string =>
    filesBelow(join(snapshot, 'lots')).map((path) => join(snapshot, 'lots', path))[1] ?? '';

  it.each([
    ['missing', (path: string) => rmSync(path)],
    ['short', (path: string) => truncateSync(path, 20)],
  ])('is an error that names it: %s', async (_, damage) => {
    const lake = await setUp();
    const path = fileIn(lake.snapshot);
    damage(path);
    const error = {
      code: 'LAKE_UNSOUND',
      message: expect.stringContaining(path.slice(lake.snapshot.length + 1)),
    };
    await expect(answer(lake, 'select count(*) from lots')).rejects.toMatchObject(error);
    await expect(exportTo(lake, { tables: ['lots'], format: 'csv' })).rejects.toMatchObject(error);
    expect(await answer(lake, 'select count(*) > 0 as n from sales')).toBe('n\r\ntrue\r\n');
    expect(ownAlarms(layoutOf(lake.config.output))).toMatchObject([{ metric: 'damaged_files' }]);
  });

  it('is not read if it is foreign, and an alarm names it', async () => {
    const lake = await setUp();
    const before = await answer(lake, 'select count(*) from lots');
    const path = fileIn(lake.snapshot);
    copyFileSync(path, join(dirname(path), 'copy.parquet'));
    const folder = join(lake.snapshot, 'lots', 'domain_id=99', 'month=2020-01');
    mkdirSync(folder, { recursive: true });
    copyFileSync(path, join(folder, 'data_0.parquet'));
    expect(await answer(lake, 'select count(*) from lots')).toBe(before);
    expect(ownAlarms(layoutOf(lake.config.output))).toMatchObject([
      { metric: 'foreign_files', what: '2 files of lots are no file of the snapshot and not read' },
    ]);
    expect(readdirSync(folder)).toEqual(['data_0.parquet']);
  });
});

it('a filter on a partition still decides which files are opened', async () => {
  const lake = await setUp();
  const plan = async (where: string): Promise<string> => {
    const printed = await answer(lake, `explain analyze select count(title_name) from lots where ${where}`);
    return /Scanning Files: \d+\/\d+/.exec(printed)?.[0] ?? '';
  };
  const all = filesBelow(join(lake.snapshot, 'lots')).length;
  const some = filesBelow(join(lake.snapshot, 'lots')).filter((path) =>
    path.startsWith('domain_id=1/'),
  ).length;
  expect(some).toBeLessThan(all);
  expect(await plan('domain_id = 1')).toBe(`Scanning Files: ${some}/${all}`);
});
