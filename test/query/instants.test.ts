import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Table, tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeArrow, writeCsv } from '../../src/ask/export/data-files.js';
import { type Format, render } from '../../src/ask/query/render.js';
import { openTemporarySession, type TemporarySession } from '../../src/base/duck/session.js';
import { readQuery } from '../../src/core/model/read-only.js';

/** SQL of a value, and its form in JSON, in CSV and in a table on a terminal. */
const SHOWN = {
  summer: ["timestamptz '2026-06-15 12:00:00.123456+00'", '2026-06-15T12:00:00.123456Z'],
  winter: ["timestamptz '2026-12-28 16:40:03.23+00'", '2026-12-28T16:40:03.230000Z'],
  changed: ["timestamptz '2026-03-08 07:00:00+00'", '2026-03-08T07:00:00.000000Z'],
  early: ["timestamptz '1969-12-31 23:59:59.999999+00'", '1969-12-31T23:59:59.999999Z'],
  local_mean_time: ["timestamptz '1850-01-01 00:00:00+00'", '1850-01-01T00:00:00.000000Z'],
  ancient: ["timestamptz '0044-03-15 (BC) 12:00:00+00'", '-000043-03-15T12:00:00.000000Z'],
  far: ["timestamptz '290000-01-01 00:00:00+00'", '+290000-01-01T00:00:00.000000Z'],
  always: ["timestamptz 'infinity'", 'infinity'],
  never: ["timestamptz '-infinity'", '-infinity'],
  no_zone: ["timestamp '2026-06-15 12:00:00.5'", '2026-06-15T12:00:00.500000'],
  seconds: ["timestamp_s '2026-06-15 12:00:00'", '2026-06-15T12:00:00'],
  millis: ["timestamp_ms '1969-12-31 23:59:59.25'", '1969-12-31T23:59:59.250'],
  nanos: ["timestamp_ns '1969-12-31 23:59:59.123456789'", '1969-12-31T23:59:59.123456789'],
  nanos_always: ["timestamp_ns 'infinity'", 'infinity'],
  day: ["date '2026-06-15'", '2026-06-15'],
  early_day: ["date '1969-12-31'", '1969-12-31'],
  ancient_day: ["date '0044-03-15 (BC)'", '-000043-03-15'],
  last_day: ["date 'infinity'", 'infinity'],
  far_day: ["date '290000-01-01'", '+290000-01-01'],
  missing: ['cast(null as timestamptz)', null],
  missing_day: ['cast(null as date)', null],
  list: [
    "[timestamptz '2026-06-15 12:00:00+00', null, timestamptz 'infinity']",
    ['2026-06-15T12:00:00.000000Z', null, 'infinity'],
  ],
  nested: [
    "{'at': timestamptz '2026-06-15 12:00:00+00', 'days': [date '1969-12-31', null], 'n': 7}",
    { at: '2026-06-15T12:00:00.000000Z', days: ['1969-12-31', null], n: 7 },
  ],
  map: [
    "map {timestamptz '2026-06-15 12:00:00+00': date '2026-06-15'}",
    [{ key: '2026-06-15T12:00:00.000000Z', value: '2026-06-15' }],
  ],
} as const;

/** Columns that are integers in Arrow and Parquet. DuckDB returns the integers. */
const COUNTED = [
  'summer',
  'winter',
  'changed',
  'early',
  'local_mean_time',
  'ancient',
  'far',
  'no_zone',
  'seconds',
  'millis',
  'nanos',
] as const;

const SQL = `select ${Object.entries(SHOWN)
  .map(([name, [sql]]) => `${sql} as ${name}`)
  .join(', ')}`;

const JSON_ROW = Object.fromEntries(Object.entries(SHOWN).map(([name, [, shown]]) => [name, shown]));

let opened: TemporarySession;
beforeAll(async () => {
  opened = await openTemporarySession({ memory: '200MB', threads: 1 });
});
afterAll(() => opened.close());

async function rendered(sql: string, format: Format): Promise<Buffer> {
  const { session, temp } = opened;
  const query = await readQuery(session.connection, sql);
  const pieces: Buffer[] = [];
  const view = { rows: 40, width: undefined };
  for await (const piece of render(session.connection, query, format, { temp, view }))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** Rows of a query's integers, from DuckDB. */
async function integers(sql: string): Promise<unknown[][]> {
  const reader = await opened.session.connection.runAndReadAll(sql);
  return reader.getRows();
}

const EPOCHS = `select ${COUNTED.map((name) => `epoch_us(${name})`).join(', ')}`;

describe('the process', () => {
  it.runIf(process.env.TZ)('is in its time zone (in suites that set TZ)', () => {
    const zoneOf = (timeZone?: string) => Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
    expect(zoneOf()).toBe(zoneOf(process.env.TZ));
  });
});

describe('lists of decimals', () => {
  const sql = 'select [12.5, null, -3]::decimal(12,2)[] as list, 12.5::decimal(12,2) as one';

  it('are JSON in CSV and in Arrow like other lists, while a decimal is a number', async () => {
    const [row] = JSON.parse(String(await rendered(sql, 'json')));
    expect(row.list.map((value: unknown) => (value === null ? null : Number(value)))).toEqual([
      12.5,
      null,
      -3,
    ]);
    const list = JSON.stringify(row.list);
    expect(String(await rendered(sql, 'csv'))).toBe(
      `list,one\r\n"${list.replaceAll('"', '""')}",${row.one}\r\n`,
    );
    const table = tableFromIPC(await rendered(sql, 'arrow'));
    expect(table.schema.fields.map(({ type }) => String(type))).toEqual(['Utf8', 'Float64']);
    expect(table.toArray().map((got) => [got?.list, got?.one])).toEqual([[list, 12.5]]);
  });
});

describe('instants and dates', () => {
  it('are ISO 8601 in UTC in JSON, even nested', async () => {
    expect(JSON.parse(String(await rendered(SQL, 'json')))).toEqual([JSON_ROW]);
  });

  it('are the same texts in CSV, in a query and in an export', async () => {
    const csv = String(await rendered(SQL, 'csv'));
    const [head, line] = csv.split('\r\n');
    expect(head).toBe(Object.keys(SHOWN).join(','));
    const cells = Object.values(SHOWN).map(([, shown]) => {
      if (shown === null) return '';
      if (typeof shown === 'object') return `"${JSON.stringify(shown).replaceAll('"', '""')}"`;
      return /^[-+]/.test(shown) ? `'${shown}` : shown;
    });
    expect(line).toBe(cells.join(','));
    const folder = join(opened.temp, 'csv');
    const [part] = await writeCsv(opened.session.connection, SQL, folder, { maxBytes: 1e6, bom: false });
    expect(await readFile(part?.path ?? '', 'utf8')).toBe(csv);
  });

  it('are the same texts in a table on a terminal', async () => {
    for (const [name, [sql, shown]] of Object.entries(SHOWN)) {
      const text = typeof shown === 'string' ? shown : shown === null ? '' : JSON.stringify(shown);
      const cell = text.length > 60 ? `${text.slice(0, 59)}…` : text;
      expect(String(await rendered(`select ${sql} as v`, 'table')), name).toContain(`│ ${cell} `);
    }
  });

  it('are integers of microseconds and days in Arrow, in a query and in an export', async () => {
    const folder = join(opened.temp, 'arrow');
    const [part] = await writeArrow(opened.session.connection, SQL, folder, { maxBytes: 1e6 });
    const [expected] = await integers(`${EPOCHS} from (${SQL})`);
    for (const bytes of [await rendered(SQL, 'arrow'), await readFile(part?.path ?? '')]) {
      const table = tableFromIPC(bytes);
      const types = Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]));
      expect(types).toMatchObject({
        summer: 'Timestamp<MICROSECOND, UTC>',
        no_zone: 'Timestamp<MICROSECOND>',
        nanos: 'Timestamp<MICROSECOND>',
        missing: 'Timestamp<MICROSECOND, UTC>',
        day: 'Date32<DAY>',
        list: 'Utf8',
      });
      expect(COUNTED.map((name) => stored(table, name))).toEqual(expected);
      // The values that DuckDB itself writes for infinity into Arrow and Parquet.
      expect(['always', 'never', 'nanos_always'].map((name) => stored(table, name))).toEqual([
        2n ** 63n - 1n,
        1n - 2n ** 63n,
        2n ** 63n - 1n,
      ]);
      expect(['day', 'early_day', 'ancient_day', 'last_day'].map((name) => stored(table, name))).toEqual([
        20619,
        -1,
        -735160,
        2 ** 31 - 1,
      ]);
      for (const name of ['missing', 'missing_day']) expect(table.getChild(name)?.get(0), name).toBe(null);
      for (const name of ['list', 'nested', 'map'] as const)
        expect(JSON.parse(table.getChild(name)?.get(0)), name).toEqual(SHOWN[name][1]);
    }
  });

  it('are integers in Parquet', async () => {
    const path = join(opened.temp, 'written.parquet');
    // Parquet cannot hold such distant years.
    const near = `select * exclude (far_day, last_day) from (${SQL})`;
    await writeFile(path, await rendered(near, 'parquet'));
    expect(await integers(`${EPOCHS} from '${path}'`)).toEqual(await integers(`${EPOCHS} from (${SQL})`));
    expect(await integers(`select always = 'infinity', never = '-infinity' from '${path}'`)).toEqual([
      [true, true],
    ]);
  });

  it('are read from any integers as DuckDB reads them', async () => {
    const some = `
      select
        i, make_timestamp(i) as plain, make_timestamp(i) at time zone 'UTC' as zoned,
        cast(make_timestamp(i) as date) as day
      from (
        select cast(hash(n) % 6000000000000000 as bigint) * 20 + n - 60000000000000000 as i from range(2000) t(n)
      )`;
    const rows: { plain: string; zoned: string; day: string }[] = JSON.parse(
      String(await rendered(`select plain, zoned, day from (${some}) order by i`, 'json')),
    );
    const expected = await integers(`
      select
        strftime(plain, '%Y-%m-%dT%H:%M:%S.%f'), strftime(plain, '%Y-%m-%dT%H:%M:%S.%fZ'),
        strftime(day, '%Y-%m-%d')
      from (${some}) order by i`);
    expect(rows.length).toBe(2000);
    const differing = rows
      .map(({ plain, zoned, day }, i) => ({ shown: [plain, zoned, day], expected: expected[i] }))
      .filter(({ shown, expected }) => String(shown) !== String(expected));
    expect(differing.slice(0, 3)).toEqual([]);
  });
});

/** The integer that a column of one row holds; the first batch of a file is empty. */
const stored = (table: Table, name: string): unknown => table.getChild(name)?.data.at(-1)?.values[0];
