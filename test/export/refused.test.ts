import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  exportFrom,
  exportTo,
  filesBelow,
  type HandMade,
  handMadeLake,
  LOTS,
  SALES,
} from '../query/support.js';

let lake: HandMade;
beforeAll(async () => {
  lake = await handMadeLake({ lots: LOTS }, { sales: SALES });
});
afterAll(() => lake.remove());

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
  ])('has to be one expression, not %j', async (where) => {
    await expect(exportTo(lake, { tables: ['lots'], where })).rejects.toMatchObject({
      code: 'QUERY_FAILED',
      outcome: 'usage',
    });
  });

  it('cannot read a file outside of the lake', async () => {
    const where = "title_name = (select content from read_text('/etc/hostname'))";
    await expect(exportTo(lake, { tables: ['lots'], where })).rejects.toMatchObject({ code: 'QUERY_FAILED' });
  });

  it('that fails on a row leaves nothing behind', async () => {
    const before = filesBelow(lake.folder);
    const where = "cast(title_name as bigint) = 1 or error('no')";
    await expect(exportTo(lake, { tables: ['lots'], where, format: 'csv' })).rejects.toMatchObject({
      code: 'QUERY_FAILED',
    });
    expect(filesBelow(lake.folder)).toEqual(before);
  });
});

describe('a name that does not exist', () => {
  it.each([
    [{ tables: ['lotz'] }, 'QUERY_NO_TABLE', /lots/],
    [{ tables: ['lots'], columns: ['sale_dat'] }, 'QUERY_NO_COLUMN', /sale_date/],
    [{ tables: ['lots'], columns: ['tag'] }, 'QUERY_NO_COLUMN', /names are tags/],
  ])('is refused with the nearest names: %j', async (input, code, hint) => {
    await expect(exportTo(lake, input)).rejects.toMatchObject({
      code,
      hint: expect.stringMatching(hint),
      outcome: 'usage',
    });
  });

  it('is refused by DuckDB in a condition', async () => {
    const wrong = exportTo(lake, { tables: ['lots'], where: 'sale_dat is null' });
    await expect(wrong).rejects.toMatchObject({
      code: 'QUERY_FAILED',
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
  ])('is refused for options too: %j', async (input) => {
    await expect(exportTo(lake, input)).rejects.toMatchObject({
      code: 'EXPORT_OPTIONS',
      outcome: 'usage',
    });
  });
});

describe('the folder of an export', () => {
  const refused = { code: 'EXPORT_EXISTS', outcome: 'usage' };

  it('may exist if it is empty', async () => {
    mkdirSync(join(lake.folder, 'empty'));
    const made = await exportFrom(lake, { tables: ['sales'], to: 'empty' });
    expect(filesBelow(made.path)).toContain('data/sales.parquet');
  });

  it('is replaced only with --force', async () => {
    const input = { tables: ['lots'], to: 'again' };
    await exportFrom(lake, input);
    await expect(exportFrom(lake, { ...input, tables: ['sales'] })).rejects.toMatchObject(refused);
    const made = await exportFrom(lake, { ...input, tables: ['sales'], force: true });
    expect(filesBelow(join(made.path, 'data'))).toEqual(['sales.parquet']);
  });

  it('is not replaced if it holds files that no export wrote', async () => {
    const { path: to, at } = await exportTo(lake, { tables: ['lots'] });
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

  it('may have quotes in its name', async () => {
    const made = await exportFrom(lake, { tables: ['sales'], to: "it's here" });
    expect(filesBelow(made.path)).toContain('data/sales.parquet');
  });
});
