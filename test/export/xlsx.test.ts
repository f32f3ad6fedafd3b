import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { DOMParser } from 'linkedom';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import yauzl from 'yauzl';
import { exportTo, type HandMade, handMadeLake } from '../query/support.js';

/** A cell as it stands in a workbook: its type, its format and its text. */
type Cell = Readonly<Record<'type' | 'format' | 'text', string>>;

/** A character that no XML 1.0 document may have (its production Char). */
const NO_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** The texts of the parts of a workbook, by name. Each holds only what XML allows. */
async function partsOf(path: string): Promise<Map<string, string>> {
  const zip = await yauzl.openPromise(path);
  const parts = new Map<string, string>();
  for await (const entry of zip.eachEntry()) {
    const text = String(await buffer(await zip.openReadStreamPromise(entry)));
    expect(text, entry.fileName).not.toMatch(NO_XML);
    parts.set(entry.fileName, text);
  }
  return parts;
}

/** The rows of each sheet of a workbook, by the name of its part. */
async function sheetsOf(path: string): Promise<Map<string, Cell[][]>> {
  const parts = await partsOf(path);
  const parse = (part: string) => new DOMParser().parseFromString(parts.get(part) ?? '', 'text/xml');
  const styles = parse('xl/styles.xml');
  const formats = new Map(
    [...styles.querySelectorAll('numFmt')].map((each) => [
      each.getAttribute('numFmtId'),
      each.getAttribute('formatCode'),
    ]),
  );
  const used = [...styles.querySelectorAll('cellXfs > xf')].map((each) => each.getAttribute('numFmtId'));
  const cell = (each: { getAttribute(name: string): string | null; textContent: string | null }): Cell => ({
    type: each.getAttribute('t') ?? 'n',
    format: formats.get(used[Number(each.getAttribute('s') ?? 0)] ?? '') ?? '',
    text: each.textContent ?? '',
  });
  const names = [...parts.keys()].filter((part) => part.startsWith('xl/worksheets/sheet')).sort();
  return new Map(
    names.map((part) => [
      part,
      [...parse(part).querySelectorAll('row')].map((row) => [...row.querySelectorAll('c')].map(cell)),
    ]),
  );
}
/** Excel's number of an instant: days since 1899-12-30. */
const serial = (instant: string): number => Date.parse(instant) / 86_400_000 + 25_569;

const VALUES = `
  select
    '01234' as postal_code, '12345678901234567' as vin, '2026-09' as label, '=1+1' as formula, 'NA' as word,
    9007199254740000123 as large_id, cast(10837072 as bigint) as lot_id, 12.25::double as bid, true as is_sold,
    timestamptz '2026-11-18 16:40:03.230456+00' as sold_at, date '2026-11-18' as sold_on,
    date '1899-05-01' as too_early, timestamptz 'infinity' as never, ['a', 'b"'] as tags, cast(null as varchar) as nothing,
    'a' || chr(1) || '_x0041_ <&>' || chr(13) || chr(10) || ' Ünï 🚗' as ugly, repeat('é', 40000) as long_text`;

/** Code points at the edges of what XML takes. */
const STRANGE = [
  ...[0x1, 0x8, 0xb, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9f, 0xd7ff, 0xe000, 0xfdd0, 0xfeff, 0xfffd],
  ...[0xfffe, 0xffff, 0x1fffe, 0x1ffff, 0x10ffff],
];

/** Those that XML forbids, as Excel escapes them. */
const ESCAPED: Readonly<Record<string, string>> = {
  ...{ 1: '_x0001_', 8: '_x0008_', 11: '_x000B_', 27: '_x001B_', 31: '_x001F_' },
  ...{ 65534: '_xFFFE_', 65535: '_xFFFF_' },
};

let lake: HandMade;
beforeAll(async () => {
  lake = await handMadeLake({
    lots: VALUES,
    prices: `select i as lot_id, 'text ' || i as note from range(5000) t(i)`,
    states: `select 1::bigint as lot_id, code::varchar as code, 'a' || chr(code::integer) || 'b' as text,
      [chr(code::integer)] as list, 'x' as "_x0041_b" from unnest([${STRANGE.join(', ')}]) t(code)`,
    titles: `select 1::bigint as lot_id, 'a' as note limit 0`,
  });
});
afterAll(() => lake.remove());

describe('lotlake export --format xlsx', () => {
  it('keeps every value as a spreadsheet can hold it', async () => {
    const { at } = await exportTo(lake, { tables: ['lots'], format: 'xlsx' });
    const [sheet = []] = (await sheetsOf(at('data/lots.xlsx'))).values();
    expect(sheet).toHaveLength(2);
    const cells = Object.fromEntries(sheet[0]?.map(({ text }, i) => [text, sheet[1]?.[i]]) ?? []);
    const text = (value: string) => ({ type: 'inlineStr', format: '@', text: value });
    expect(cells).toMatchObject({
      postal_code: text('01234'),
      vin: text('12345678901234567'),
      label: text('2026-09'),
      formula: text('=1+1'),
      word: text('NA'),
      large_id: { type: 'inlineStr', text: '9007199254740000123' },
      lot_id: { type: 'n', text: '10837072' },
      bid: { type: 'n', text: '12.25' },
      is_sold: { type: 'b', text: '1' },
      sold_at: { type: 'n', format: 'yyyy-mm-dd hh:mm:ss' },
      sold_on: { type: 'n', format: 'yyyy-mm-dd', text: String(serial('2026-11-18')) },
      too_early: { type: 'inlineStr', text: '1899-05-01' },
      never: { type: 'inlineStr', text: 'infinity' },
      tags: text('["a","b\\""]'),
      ugly: text('a_x0001__x005F_x0041_ <&>_x000D_\n Ünï 🚗'),
    });
    expect(Number(cells.sold_at?.text)).toBeCloseTo(serial('2026-11-18T16:40:03.230Z'), 8);
    expect(cells.long_text?.text).toBe(`${'é'.repeat(32_766)}…`);
  });

  it('stays readable whatever characters texts, lists and names of columns have', async () => {
    const { at } = await exportTo(lake, { tables: ['states'], format: 'xlsx' });
    const [sheet = []] = (await sheetsOf(at('data/states.xlsx'))).values();
    const [head = [], ...rows] = sheet.map((row) => row.map(({ text }) => text));
    expect(head).toEqual(['lot_id', 'code', 'text', 'list', '_x005F_x0041_b']);
    const texts = Object.fromEntries(rows.map(([, code, text]) => [code, text]));
    const kept = STRANGE.filter((code) => !(String(code) in ESCAPED));
    for (const code of kept) expect(texts[code], String(code)).toBe(`a${String.fromCodePoint(code)}b`);
    for (const [code, escaped] of Object.entries(ESCAPED)) expect(texts[code], code).toBe(`a${escaped}b`);
    expect(rows.find(([, code]) => code === '65535')?.[3]).toBe('["_xFFFF_"]');
  });

  it('holds no formula, for a spreadsheet to compute', async () => {
    const { at } = await exportTo(lake, { tables: ['lots'], format: 'xlsx' });
    const [sheet = []] = (await sheetsOf(at('data/lots.xlsx'))).values();
    expect(sheet.flat().map(({ type }) => type)).not.toContain('str');
  });

  it('begins a new file at --max-bytes unpacked, and writes the same files again', async () => {
    const input = { tables: ['prices', 'titles'], format: 'xlsx' as const, maxBytes: '200KB' };
    const { at, made } = await exportTo(lake, input);
    const [many, none] = made.tables;
    expect(many?.files.map(({ path }) => path).slice(0, 2)).toEqual([
      'data/prices-0001.xlsx',
      'data/prices-0002.xlsx',
    ]);
    const notes: string[] = [];
    for (const { path, rows } of many?.files ?? []) {
      const [[, ...sheet] = []] = (await sheetsOf(at(path))).values();
      expect(sheet).toHaveLength(rows);
      notes.push(...sheet.map((row) => row[1]?.text ?? ''));
    }
    expect(notes).toEqual(Array.from({ length: 5000 }, (_, i) => `text ${i}`));
    expect(none?.files).toMatchObject([{ path: 'data/titles.xlsx', rows: 0 }]);
    expect((await exportTo(lake, input)).made.tables.flatMap(({ files }) => files)).toEqual(
      made.tables.flatMap(({ files }) => files),
    );
  });

  it('fails as a query fails, and leaves nothing', async () => {
    const where = `case when lot_id > 4000 then error('broken') else true end`;
    await expect(exportTo(lake, { tables: ['prices'], format: 'xlsx', where })).rejects.toMatchObject({
      code: 'QUERY_FAILED',
      message: expect.stringContaining('broken'),
    });
  });

  it('says on its first page what it does to values, as CSV says what a double click does', async () => {
    const xlsx = await exportTo(lake, { tables: ['lots'], format: 'xlsx' });
    expect(readFileSync(xlsx.at('README.md'), 'utf8')).toMatch(
      /postal codes, VINs of 17 digits and months stay/,
    );
    const csv = await exportTo(lake, { tables: ['lots'], format: 'csv' });
    const page = readFileSync(csv.at('README.md'), 'utf8');
    expect(page).toMatch(/double click.*postal code.*VIN.*month.*--format xlsx/s);
  });
});
