import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bareDuckDb, type PlainRow } from '../pipelines/support.js';
import { exportFrom, exportTo, type HandMade, handMadeLake, LOTS, SALES } from '../query/support.js';

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

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

describe('the data of an export', () => {
  it('is all rows and columns of a table, in Parquet', async () => {
    const { at } = await exportTo(lake, { tables: ['lots'] });
    expect(await duck.query(`from '${at('data/lots.parquet')}' order by lot_id`)).toEqual(lots);
    const file = await asyncBufferFromFile(at('data/lots.parquet'));
    const rows = await parquetReadObjects({ file, compressors });
    expect(rows.map((row) => row.lot_id).sort()).toEqual(lots.map((row) => BigInt(Number(row.lot_id))));
  });

  it('is the same rows in CSV, with different nulls and empty texts', async () => {
    const { at } = await exportTo(lake, { tables: ['lots'], format: 'csv' });
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
    const { at } = await exportTo(lake, { tables: ['lots'], format: 'arrow' });
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
    const { at } = await exportTo(lake, { tables: ['sales'], format: 'arrow' });
    const table = tableFromIPC(readFileSync(at('data/sales.arrow')));
    expect(String(table.schema.fields.find(({ name }) => name === 'sale_month')?.type)).toBe('Date32<DAY>');
    expect(table.get(0)?.sale_month).toBe(Date.parse('2026-11-01'));
  });

  it('is the requested rows and columns, in the requested order', async () => {
    const where = 'bid > 500 and lot_id in (select max(lot_id) from lots group by month) -- the last ones';
    const { at, made } = await exportTo(lake, { tables: ['LOTS'], where, columns: ['bid', 'LOT_ID'] });
    const read = await duck.query(`from '${at('data/lots.parquet')}'`);
    expect(Object.keys(read[0] ?? {})).toEqual(['bid', 'lot_id']);
    expect(made.tables[0]).toMatchObject({ rows: 3, columns: 2 });
    expect(readFileSync(at('README.md'), 'utf8')).toContain(where);
    expect(readJson(at('datapackage.json')).lotlake).toMatchObject({ where, columns: ['bid', 'LOT_ID'] });
  });

  it('has the currency beside an amount that is in it', async () => {
    const sales = "select 1::bigint as lot_id, 100.5 as price, 'USD' as currency";
    const priced = await handMadeLake({ lots: LOTS }, { sales });
    const { at } = await exportTo(priced, { tables: ['sales'], columns: ['price'], format: 'csv' });
    expect(readFileSync(at('data/sales.csv'), 'utf8')).toBe('price,currency\r\n100.5,USD\r\n');
    priced.remove();
  });

  it('begins CSV with a byte order mark on request', async () => {
    const { at } = await exportTo(lake, { tables: ['sales'], format: 'csv', bom: true });
    for (const name of ['data/sales.csv', 'dictionary.csv'])
      expect(readFileSync(at(name)).subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  });

  it.each(['parquet', 'csv', 'arrow'] as const)(
    'is a file without rows if the table is empty (%s)',
    async (format) => {
      const { at, made } = await exportTo(lake, { tables: ['titles'], format });
      expect(made.tables[0]?.files).toMatchObject([{ path: `data/titles.${format}`, rows: 0 }]);
      expect(statSync(at(`data/titles.${format}`)).size).toBeGreaterThan(0);
    },
  );

  it('is the same bytes when it is exported again', async () => {
    const input = { tables: ['lots', 'sales'] };
    const sums = async () => (await exportTo(lake, input)).made.tables.flatMap(({ files }) => files);
    expect(await sums()).toEqual(await sums());
  });
});

describe('files of limited size', () => {
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

  it.each([
    // A row group in Parquet has at least 2,048 rows.
    ['parquet', 'lot_id < 4096', [2048, 2048]],
    ['csv', 'lot_id < 3', [1, 1, 1]],
    ['arrow', 'lot_id < 3', [3]],
  ] as const)('are never empty, however small the size limit is (%s)', async (format, where, rows) => {
    const made = await exportFrom(large, {
      ...{ tables: ['lots'], to: `tiny-${format}`, format, maxBytes: '10', where },
    });
    expect(made.tables[0]?.files.map((file) => file.rows)).toEqual(rows);
    expect(readdirSync(join(made.path, 'data')).length).toBe(rows.length);
  });
});
