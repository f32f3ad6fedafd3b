import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportFrom, type HandMade, handMadeLake, LOTS, SALES } from '../query/support.js';

/** A Python with pandas, pyarrow and openpyxl, such as the Python of `npm run test:notebooks`. */
const python = process.env.LOTLAKE_PYTHON;

const hasOffice = spawnSync('soffice', ['--version']).status === 0;

let lake: HandMade;
beforeAll(async () => {
  lake = await handMadeLake({ lots: LOTS }, { sales: SALES });
});
afterAll(() => lake.remove());

const PANDAS = `
import json, sys, pandas as pd
reads = {'parquet': pd.read_parquet, 'arrow': pd.read_feather,
         'csv': lambda path: pd.read_csv(path, parse_dates=['sale_date', 'sale_month']),
         'xlsx': pd.read_excel}
table = reads[sys.argv[1]](sys.argv[2]).sort_values('lot_id')
print(json.dumps({
    'types': {name: str(type) for name, type in table.dtypes.items()},
    'rows': len(table),
    'prices': float(table['price'].sum()),
    'sold': int(table['is_trusted'].sum()),
    'month': str(table['sale_month'].iloc[0])[:10],
}))
`;

describe.skipIf(python === undefined)('pandas', () => {
  it.each([
    ['parquet', 'default'],
    ['parquet', 'compat'],
    ['arrow', 'default'],
    ['csv', 'default'],
    ['xlsx', 'default'],
  ] as const)('reads sales with their types (%s, %s)', async (format, profile) => {
    const to = `pandas-${format}-${profile}`;
    const made = await exportFrom(lake, { tables: ['sales'], to, format, profile });
    const path = join(made.path, `data/sales.${format}`);
    const read = spawnSync(String(python), ['-c', PANDAS, format, path]);
    expect(read.status, String(read.stderr)).toBe(0);
    const { types, ...values } = JSON.parse(String(read.stdout));
    expect(types).toMatchObject({
      lot_id: 'int64',
      price: 'float64',
      is_trusted: 'bool',
      // A cell of a spreadsheet has no zone.
      sale_date: format === 'xlsx' ? 'datetime64[us]' : 'datetime64[us, UTC]',
    });
    expect(values).toEqual({ rows: 50, prices: 25 * 1000.5 + 600, sold: 25, month: '2026-11-01' });
  });
});

describe.skipIf(!hasOffice)('LibreOffice', () => {
  it('opens the CSV with numbers as numbers, texts whole and no formula', async () => {
    const made = await exportFrom(lake, { tables: ['lots'], to: 'office', format: 'csv', bom: true });
    // Comma, double quote, UTF-8, from the first line.
    const filter = 'CSV:44,34,76,1';
    const convert = ['--headless', '--convert-to', 'fods', `--infilter=${filter}`, '--outdir', lake.folder];
    const ended = spawnSync('soffice', [...convert, join(made.path, 'data/lots.csv')], { timeout: 120_000 });
    expect(ended.status, String(ended.stderr)).toBe(0);
    const sheet = readFileSync(join(lake.folder, 'lots.fods'), 'utf8');
    expect(sheet).not.toContain('table:formula');
    expect(sheet.match(/<table:table-row/g)?.length).toBeGreaterThan(120);
    expect(sheet).toContain('office:value-type="float" office:value="1345.5"');
    for (const text of ['Ünï 車', 'a &quot;quoted&quot;, text', '&apos;=1+1']) expect(sheet).toContain(text);
  });
});
