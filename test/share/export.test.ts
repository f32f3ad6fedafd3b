import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ExportInput } from '../../src/share/export/request.js';
import { bareDuckDb, type PlainRow } from '../pipelines/support.js';
import {
  exportFrom,
  filesBelow,
  type HandMade,
  handMadeLake,
  LOTS,
  PUBLISHED,
  SALES,
  SNAPSHOT,
} from './support.js';

let lake: HandMade;
let duck: Awaited<ReturnType<typeof bareDuckDb>>;
let lots: PlainRow[];

beforeAll(async () => {
  lake = await handMadeLake(
    { lots: LOTS, titles: `select cast(1 as bigint) as title_id, 'Clear' as title_name limit 0` },
    { sales: SALES },
  );
  duck = await bareDuckDb();
  lots = await duck.query(`from (${LOTS}) order by lot_id`);
});
afterAll(() => {
  duck.close();
  lake.remove();
});

let exports = 0;

/** Exports into a new folder, and returns it with what was said of it. */
async function exportTo(input: Omit<ExportInput, 'to'>) {
  const to = `export-${exports++}`;
  const made = await exportFrom(lake, { ...input, to });
  return { made, path: made.path, at: (...names: string[]) => join(made.path, ...names) };
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

describe('the data of an export', () => {
  it('is all rows and columns of a table, in Parquet', async () => {
    const { at } = await exportTo({ tables: ['lots'] });
    expect(await duck.query(`from '${at('data/lots.parquet')}' order by lot_id`)).toEqual(lots);
    const file = await asyncBufferFromFile(at('data/lots.parquet'));
    const rows = await parquetReadObjects({ file, compressors });
    expect(rows.map((row) => row.lot_id).sort()).toEqual(lots.map((row) => BigInt(Number(row.lot_id))));
  });

  it('is the same rows in CSV, with nulls and empty texts told apart', async () => {
    const { at } = await exportTo({ tables: ['lots'], format: 'csv' });
    const text = readFileSync(at('data/lots.csv'), 'utf8');
    expect(text.split('\r\n')[0]).toBe(Object.keys(lots[0] ?? {}).join(','));
    expect(text.endsWith('\r\n')).toBe(true);
    const read = await duck.query(`
      select
        lot_id, vehicle_id, bid, keys_available, sale_date, extra, domain_id, month,
        case when title_name similar to '''+[=+@\\-].*' then title_name[2:] else title_name end as title_name,
        cast(from_json(cast(tags as json), '["varchar"]') as varchar[]) as tags
      from read_csv('${at('data/lots.csv')}', header = true, auto_detect = false, delim = ',', quote = '"',
        escape = '"', nullstr = '', allow_quoted_nulls = false, columns = {
          lot_id: 'bigint', vehicle_id: 'bigint', title_name: 'varchar', bid: 'double', keys_available: 'boolean',
          sale_date: 'timestamptz', tags: 'varchar', extra: 'varchar', domain_id: 'bigint', month: 'varchar' })
      order by lot_id`);
    expect(read).toEqual(lots.map((row) => expect.objectContaining(row)));
    expect(text).toContain("'=1+1");
    expect(text).toMatch(/,2026-10-01T23:59:58\.123456Z,/);
  });

  it('is the same rows in Arrow, with their types', async () => {
    const { at } = await exportTo({ tables: ['lots'], format: 'arrow' });
    const table = tableFromIPC(readFileSync(at('data/lots.arrow')));
    const types = Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]));
    expect(types).toMatchObject({
      lot_id: 'Int64',
      bid: 'Float64',
      keys_available: 'Bool',
      sale_date: 'Timestamp<MICROSECOND, UTC>',
      tags: 'List<Utf8>',
      title_name: 'Utf8',
    });
    const rows = table
      .toArray()
      .map((row) => row.toJSON())
      .sort((a, b) => Number(a.lot_id - b.lot_id));
    expect(rows.map(({ lot_id }) => Number(lot_id))).toEqual(lots.map(({ lot_id }) => lot_id));
    expect(rows.map(({ bid }) => bid)).toEqual(lots.map(({ bid }) => bid));
    expect(rows.map(({ tags }) => tags?.toJSON() ?? null)).toEqual(lots.map(({ tags }) => tags));
  });

  it('holds dates as dates in Arrow', async () => {
    const { at } = await exportTo({ tables: ['sales'], format: 'arrow' });
    const table = tableFromIPC(readFileSync(at('data/sales.arrow')));
    expect(String(table.schema.fields.find(({ name }) => name === 'sale_month')?.type)).toBe('Date32<DAY>');
    expect(table.get(0)?.sale_month).toBe(Date.parse('2026-11-01'));
  });

  it('is the rows and columns that are asked for, in the order asked for', async () => {
    const where = 'bid > 500 and lot_id in (select max(lot_id) from lots group by month) -- the last ones';
    const { at, made } = await exportTo({ tables: ['LOTS'], where, columns: ['bid', 'LOT_ID'] });
    const read = await duck.query(`from '${at('data/lots.parquet')}'`);
    expect(Object.keys(read[0] ?? {})).toEqual(['bid', 'lot_id']);
    expect(made.tables[0]).toMatchObject({ rows: 3, columns: 2 });
    expect(readFileSync(at('README.md'), 'utf8')).toContain(where);
    expect(readJson(at('datapackage.json')).lotlake).toMatchObject({ where, columns: ['bid', 'LOT_ID'] });
  });

  it('begins CSV with a byte order mark on request', async () => {
    const { at } = await exportTo({ tables: ['sales'], format: 'csv', bom: true });
    for (const name of ['data/sales.csv', 'dictionary.csv'])
      expect(readFileSync(at(name)).subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  });

  it.each(['parquet', 'csv', 'arrow'] as const)(
    'is a file without rows where the table is empty (%s)',
    async (format) => {
      const { at, made } = await exportTo({ tables: ['titles'], format });
      expect(made.tables[0]?.files).toMatchObject([{ path: `data/titles.${format}`, rows: 0 }]);
      expect(statSync(at(`data/titles.${format}`)).size).toBeGreaterThan(0);
    },
  );

  it('is the same bytes when it is exported again', async () => {
    const input = { tables: ['lots', 'sales'] };
    const sums = async () => (await exportTo(input)).made.tables.flatMap(({ files }) => files);
    expect(await sums()).toEqual(await sums());
  });
});

describe('files of a size', () => {
  let large: HandMade;
  const ROWS = 60_000;
  beforeAll(async () => {
    const rows = `select cast(i as bigint) as lot_id, md5(cast(i as varchar)) as title_name from range(${ROWS}) t(i)`;
    large = await handMadeLake({ lots: rows });
  });
  afterAll(() => large.remove());

  it.each(['parquet', 'csv', 'arrow'] as const)('hold the table in order (%s)', async (format) => {
    const maxBytes = 500_000;
    const made = await exportFrom(large, {
      tables: ['lots'],
      to: `split-${format}`,
      format,
      maxBytes: '500KB',
    });
    const files = made.tables[0]?.files ?? [];
    expect(files.length).toBeGreaterThan(2);
    expect(files[0]?.path).toBe(`data/lots-0001.${format}`);
    expect(files.reduce((sum, { rows }) => sum + rows, 0)).toBe(ROWS);
    for (const { path, bytes } of files) {
      expect(statSync(join(made.path, path)).size).toBe(bytes);
      expect(bytes).toBeLessThan(format === 'csv' ? maxBytes + 1 : maxBytes * 1.7);
    }
    for (const { bytes } of files.slice(0, -1)) expect(bytes).toBeGreaterThan(maxBytes * 0.9);
    if (format === 'arrow') return;
    const first = files.map(
      ({ path }) =>
        `select min(lot_id) as least, max(lot_id) as most, count(*) as n from '${join(made.path, path)}'`,
    );
    const spans = await duck.query(`${first.join(' union all ')} order by least`);
    let next = 0;
    for (const [i, { least, most, n }] of spans.entries()) {
      expect({ least, n }).toEqual({ least: next, n: files[i]?.rows });
      next = Number(most) + 1;
    }
  });

  it('are never without a row, however small they are to be', async () => {
    const made = await exportFrom(large, {
      tables: ['lots'],
      to: 'tiny',
      format: 'csv',
      maxBytes: '10',
      where: 'lot_id < 5',
    });
    expect(made.tables[0]?.files.map(({ rows }) => rows)).toEqual([1, 1, 1, 1, 1]);
  });
});

/** What Data Package 2 asks of a descriptor, as far as an export uses it. */
const field = z.object({
  name: z.string(),
  type: z.enum(['string', 'number', 'integer', 'boolean', 'date', 'datetime', 'array']),
  description: z.string(),
  unit: z.string().optional(),
});
const path = z.string().regex(/^data\/[a-z_]+(-\d{4})?\.(parquet|csv|arrow)$/);
const hash = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const resource = z.strictObject({
  name: z.string().regex(/^[a-z0-9_.-]+$/),
  type: z.literal('table'),
  title: z.string(),
  description: z.string(),
  path: z.union([path, z.array(path).min(2)]),
  format: z.enum(['parquet', 'csv', 'arrow']),
  mediatype: z.string().regex(/^(.+)\/(.+)$/),
  encoding: z.literal('utf-8'),
  bytes: z.int(),
  hash: hash.optional(),
  rows: z.int(),
  parts: z.array(z.strictObject({ path, rows: z.int(), bytes: z.int(), hash })).min(1),
  schema: z.object({
    fields: z.array(field).min(1),
    primaryKey: z.array(z.string()).min(1).optional(),
    missingValues: z.array(z.string()),
  }),
});
const dataPackage = z.object({
  $schema: z.literal('https://datapackage.org/profiles/2.0/datapackage.json'),
  name: z.string().regex(/^[a-z0-9._-]+$/),
  title: z.string(),
  description: z.string(),
  created: z.iso.datetime(),
  lotlake: z.object({ snapshot: z.string() }),
  resources: z.array(resource).min(1),
});

describe('what comes with the data', () => {
  it('is a data package that agrees with the files', async () => {
    const { at } = await exportTo({ tables: ['lots', 'sales'], maxBytes: '1KB', format: 'csv' });
    const described = dataPackage.parse(readJson(at('datapackage.json')));
    expect(described.lotlake.snapshot).toBe(SNAPSHOT);
    expect(described.resources.map(({ name, rows }) => [name, rows])).toEqual([
      ['lots', 120],
      ['sales', 50],
    ]);
    for (const { parts, bytes, path: paths } of described.resources) {
      expect([paths].flat()).toEqual(parts.map((part) => part.path));
      expect(parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(bytes);
      for (const part of parts) expect(part.hash).toBe(`sha256:${sha256(at(part.path))}`);
    }
    expect(described.resources[0]?.schema.primaryKey).toEqual(['lot_id']);
    const types = described.resources.flatMap(({ schema }) =>
      schema.fields.map(({ name, type }) => [name, type]),
    );
    expect(Object.fromEntries(types)).toMatchObject({
      lot_id: 'integer',
      bid: 'number',
      keys_available: 'boolean',
      sale_date: 'datetime',
      sale_month: 'date',
      tags: 'array',
      title_name: 'string',
    });
  });

  it('has no primary key where one of its columns is left out', async () => {
    const { at } = await exportTo({ tables: ['sales'], columns: ['lot_id', 'price'] });
    expect(
      dataPackage.parse(readJson(at('datapackage.json'))).resources[0]?.schema.primaryKey,
    ).toBeUndefined();
    expect(readFileSync(at('dictionary.md'), 'utf8')).toContain('Key: not exported');
  });

  it('is a dictionary with each column that is exported', async () => {
    const { at } = await exportTo({ tables: ['lots'] });
    const columns = Object.keys(lots[0] ?? {});
    const read = await duck.query(`select * from read_csv('${at('dictionary.csv')}', all_varchar = true)`);
    expect(read.map((row) => [row.table, row.column])).toEqual(columns.map((name) => ['lots', name]));
    expect(read.find((row) => row.column === 'bid')).toMatchObject({ type: 'DOUBLE', source: 'lots[].bid' });
    const page = readFileSync(at('dictionary.md'), 'utf8');
    for (const name of columns) expect(page).toContain(`| \`${name}\` |`);
  });

  it('is a README that says which snapshot, how many rows and how to open them', async () => {
    const { at } = await exportTo({ tables: ['lots', 'sales'], format: 'csv' });
    const page = readFileSync(at('README.md'), 'utf8');
    for (const part of [
      SNAPSHOT,
      PUBLISHED,
      '| 120 |',
      '| 50 |',
      "select * from 'data/lots.csv'",
      'pd.read_csv',
      'Excel',
    ])
      expect(page).toContain(part);
  });

  it('is a sum of every file but that of the sums', async () => {
    const { at, path: folder } = await exportTo({ tables: ['lots', 'sales'], maxBytes: '1KB' });
    const lines = readFileSync(at('SHA256SUMS'), 'utf8').trimEnd().split('\n');
    const summed = lines.map((line) => line.slice(66));
    expect([...summed, 'SHA256SUMS'].sort()).toEqual(filesBelow(folder));
    for (const line of lines) expect(line).toBe(`${sha256(at(line.slice(66)))}  ${line.slice(66)}`);
  });
});

describe('a condition', () => {
  it.each([
    'true) limit (1',
    'true) order by (lot_id',
    'true) union all select * from sales where (true',
    'true) group by all having (true',
    'true) using sample (5',
    'true) qualify (true',
    "true); copy (select 1) to 'x.csv'; select (1",
    'true) /*',
    '',
  ])('is one expression, not %j', async (where) => {
    await expect(exportTo({ tables: ['lots'], where })).rejects.toMatchObject({
      code: 'SHARE_QUERY',
      outcome: 'usage',
    });
  });

  it('reaches no file outside of the lake', async () => {
    const where = "title_name = (select content from read_text('/etc/hostname'))";
    await expect(exportTo({ tables: ['lots'], where })).rejects.toMatchObject({ code: 'SHARE_QUERY' });
  });

  it('that fails on a row leaves nothing behind', async () => {
    const before = filesBelow(lake.folder);
    const where = "cast(title_name as bigint) = 1 or error('no')";
    await expect(exportTo({ tables: ['lots'], where, format: 'csv' })).rejects.toMatchObject({
      code: 'SHARE_QUERY',
    });
    expect(filesBelow(lake.folder)).toEqual(before);
  });
});

describe('what is not there', () => {
  it.each([
    [{ tables: ['lotz'] }, 'SHARE_NO_TABLE', /lots/],
    [{ tables: ['lots'], columns: ['sale_dat'] }, 'SHARE_NO_COLUMN', /sale_date/],
    [{ tables: ['lots'], columns: ['tag'] }, 'SHARE_NO_COLUMN', /names are tags/],
  ])('is told with the nearest names: %j', async (input, code, hint) => {
    await expect(exportTo(input)).rejects.toMatchObject({
      code,
      hint: expect.stringMatching(hint),
      outcome: 'usage',
    });
  });

  it('is told by DuckDB where it is in a condition', async () => {
    const wrong = exportTo({ tables: ['lots'], where: 'sale_dat is null' });
    await expect(wrong).rejects.toMatchObject({
      code: 'SHARE_QUERY',
      message: expect.stringContaining('sale_date'),
    });
  });

  it.each([
    { tables: ['lots', 'sales'], where: 'true' },
    { tables: ['lots', 'sales'], columns: ['lot_id'] },
    { tables: ['lots'], columns: [] },
    { tables: ['lots'], format: 'csv' as const, profile: 'compat' as const },
    { tables: ['lots'], bom: true },
    { tables: ['lots'], maxBytes: 'much' },
    { tables: ['lots'], maxBytes: '0MB' },
    { tables: [] },
  ])('is told of options: %j', async (input) => {
    await expect(exportTo(input)).rejects.toMatchObject({ code: 'SHARE_EXPORT_OPTIONS', outcome: 'usage' });
  });
});

describe('the folder of an export', () => {
  const refused = { code: 'SHARE_EXPORT_EXISTS', outcome: 'usage' };

  it('may be there when it is empty', async () => {
    mkdirSync(join(lake.folder, 'empty'));
    const made = await exportFrom(lake, { tables: ['sales'], to: 'empty' });
    expect(filesBelow(made.path)).toContain('data/sales.parquet');
  });

  it('is replaced with --force alone', async () => {
    const input = { tables: ['lots'], to: 'again' };
    await exportFrom(lake, input);
    await expect(exportFrom(lake, { ...input, tables: ['sales'] })).rejects.toMatchObject(refused);
    const made = await exportFrom(lake, { ...input, tables: ['sales'], force: true });
    expect(filesBelow(join(made.path, 'data'))).toEqual(['sales.parquet']);
  });

  it('is not replaced where it holds what no export made', async () => {
    const { path: to, at } = await exportTo({ tables: ['lots'] });
    writeFileSync(at('data/notes.txt'), 'mine');
    await expect(exportFrom(lake, { tables: ['lots'], to, force: true })).rejects.toMatchObject(refused);
    expect(readFileSync(at('data/notes.txt'), 'utf8')).toBe('mine');
    await expect(exportFrom(lake, { tables: ['lots'], to: 'output', force: true })).rejects.toMatchObject(
      refused,
    );
    await expect(
      exportFrom(lake, { tables: ['lots'], to: at('README.md'), force: true }),
    ).rejects.toMatchObject(refused);
  });

  it('is not made when the export is interrupted', async () => {
    const before = filesBelow(lake.folder);
    const made = exportFrom(lake, { tables: ['lots'], to: 'stopped' }, AbortSignal.abort());
    await expect(made).rejects.toThrow();
    expect(filesBelow(lake.folder)).toEqual(before);
  });

  it('keeps its name where there are quotes in it', async () => {
    const made = await exportFrom(lake, { tables: ['sales'], to: "it's here" });
    expect(filesBelow(made.path)).toContain('data/sales.parquet');
  });
});
