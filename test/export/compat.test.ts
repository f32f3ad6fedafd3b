import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { ParquetReader } from 'parquetjs-lite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bareDuckDb, type PlainRow } from '../pipelines/support.js';
import { exportFrom, type HandMade, handMadeLake, LOTS, SALES } from '../query/support.js';

let lake: HandMade;
let duck: Awaited<ReturnType<typeof bareDuckDb>>;
beforeAll(async () => {
  const wide = `
    select cast(i as bigint) as lot_id, 'text ' || i as title_name, md5(cast(i as varchar)) as link
    from range(130000) t(i)`;
  const odd = `
    select
      cast(1 as bigint) as title_id,
      cast(12.5 as decimal(10, 2)) as price,
      cast(7 as integer) as number,
      {'a': 1} as nested,
      cast('2026-11-20 01:02:03.004' as timestamp_ns) as nanos,
      uuid '00000000-0000-0000-0000-000000000001' as id`;
  lake = await handMadeLake({ lots: LOTS, listings: wide, titles: odd }, { sales: SALES });
  duck = await bareDuckDb();
});
afterAll(() => {
  duck.close();
  lake.remove();
});

type OldRow = Readonly<Record<string, unknown>>;

/** Rows as parquetjs-lite 0.8.7 reads them. It leaves out nulls. */
async function readOld(path: string): Promise<OldRow[]> {
  const reader = await ParquetReader.openFile(path);
  const cursor = reader.getCursor();
  const rows: OldRow[] = [];
  for (let row = await cursor.next(); row !== null; row = await cursor.next()) rows.push(row);
  await reader.close();
  return rows;
}

async function exportCompat(table: string, to: string): Promise<string[]> {
  const made = await exportFrom(lake, { tables: [table], to, profile: 'compat', maxBytes: '2MB' });
  return (made.tables[0]?.files ?? []).map(({ path }) => join(made.path, path));
}

/** The form of a lake value in parquetjs-lite. */
function asOld(value: unknown, type: 'text' | 'id' | 'instant' | 'date' | 'list' | 'number'): unknown {
  if (value === null) return undefined;
  if (type === 'id') return BigInt(Number(value));
  if (type === 'date') return new Date(`${value}T00:00:00Z`);
  if (type === 'instant') return new Date(`${String(value).replace(' ', 'T').slice(0, 23)}Z`);
  return type === 'list' ? JSON.stringify(value) : value;
}

describe('the compat profile', () => {
  it('opens lots in parquetjs-lite, value by value', async () => {
    const [path = ''] = await exportCompat('lots', 'lots');
    const byId = (a: OldRow, b: OldRow) => Number(BigInt(String(a.lot_id)) - BigInt(String(b.lot_id)));
    const read = (await readOld(path)).sort(byId);
    const types = {
      lot_id: 'id',
      vehicle_id: 'id',
      title_name: 'text',
      bid: 'number',
      keys_available: 'number',
      sale_date: 'instant',
      tags: 'list',
      extra: 'text',
      domain_id: 'id',
      month: 'text',
    } as const;
    const expected = (await duck.query(`from (${LOTS}) order by lot_id`)).map((row: PlainRow) =>
      Object.fromEntries(Object.entries(types).map(([name, type]) => [name, asOld(row[name], type)])),
    );
    expect(
      read.map((row) => Object.fromEntries(Object.keys(types).map((name) => [name, row[name] ?? undefined]))),
    ).toEqual(expected);
  });

  it('opens sales in parquetjs-lite with ids, amounts, instants and dates', async () => {
    const [path = ''] = await exportCompat('sales', 'sales');
    const rows = await readOld(path);
    expect(rows).toHaveLength(50);
    expect(rows[2]).toEqual({
      lot_id: 2n,
      attempt: 1n,
      sale_date: new Date('2026-11-01T14:00:00Z'),
      sale_month: new Date('2026-11-01T00:00:00Z'),
      price: 1002.5,
      is_trusted: true,
      trust_reason: 'trusted',
    });
    expect(rows[3]?.price ?? null).toBeNull();
  });

  it('opens tables of many row groups and files', async () => {
    const paths = await exportCompat('listings', 'listings');
    expect(paths.length).toBeGreaterThan(1);
    let next = 0;
    for (const path of paths) {
      const metadata = await parquetMetadataAsync(await asyncBufferFromFile(path));
      expect(metadata.row_groups.length).toBeGreaterThan(1);
      for (const { lot_id, title_name } of await readOld(path)) {
        if (lot_id !== BigInt(next) || title_name !== `text ${next}`) expect({ lot_id, next }).toBeNull();
        next++;
      }
    }
    expect(next).toBe(130_000);
  });

  it('uses snappy and only types that old readers know', async () => {
    const [path = ''] = await exportCompat('titles', 'titles');
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const columns = metadata.schema
      .slice(1)
      .map(({ name, type, converted_type }) => [name, type, converted_type]);
    expect(columns).toEqual([
      ['title_id', 'INT64', 'INT_64'],
      ['price', 'DOUBLE', undefined],
      ['number', 'INT64', 'INT_64'],
      ['nested', 'BYTE_ARRAY', 'UTF8'],
      ['nanos', 'INT64', 'TIMESTAMP_MICROS'],
      ['id', 'BYTE_ARRAY', 'UTF8'],
    ]);
    for (const { columns } of metadata.row_groups)
      for (const { meta_data } of columns) {
        expect(meta_data?.codec).toBe('SNAPPY');
        expect(meta_data?.encodings).toEqual(['PLAIN']);
      }
    const expected = {
      title_id: 1n,
      price: 12.5,
      number: 7n,
      nested: '{"a":1}',
      nanos: new Date('2026-11-20T01:02:03.004Z'),
      id: '00000000-0000-0000-0000-000000000001',
    };
    expect(await readOld(path)).toEqual([expected]);
    expect(await parquetReadObjects({ file })).toEqual([expected]);
  });
});
