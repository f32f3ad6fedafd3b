import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runLotlake } from '../cli/support.js';
import { type Postgres, postgresBin, startPostgres } from '../engines/support/postgres.js';
import { twoNights } from '../export/changed-lake.js';

/** Columns with values that the two databases write otherwise: the type in Postgres, and each value with what it is there. */
const ODD: Readonly<
  Record<string, readonly [type: string, ...values: readonly (readonly [string, string | null])[]]>
> = {
  text_value: [
    'text',
    ["'a' || chr(0) || 'b'", 'a\ufffdb'],
    ["''", ''],
    ['null::varchar', null],
    [String.raw`'q" c, b\ ' || chr(10) || chr(13) || chr(9)`, 'q" c, b\\ \n\r\t'],
    [String.raw`'\.'`, '\\.'],
    [String.raw`'\N'`, '\\N'],
  ],
  number: [
    'double precision',
    ["'inf'::double", 'Infinity'],
    ["'-inf'::double", '-Infinity'],
    ["'nan'::double", 'NaN'],
    ['-0.0::double', '0'],
    ['1.7976931348623157e308::double', '1.7976931348623157e+308'],
    ['(0.1::double + 0.2::double)', '0.30000000000000004'],
  ],
  instant: [
    'timestamp with time zone',
    ["timestamptz 'infinity'", 'infinity'],
    ["timestamptz '-infinity'", '-infinity'],
    ["timestamptz '0044-03-15 (BC) 01:02:03+00'", '0044-03-15 01:02:03+00 BC'],
    ["timestamptz '5000-01-01 (BC) 00:00:00+00'", '-infinity'],
    ["timestamptz '10000-01-01 00:00:00.123456+00'", '10000-01-01 00:00:00.123456+00'],
    ['null::timestamptz', null],
  ],
  day: [
    'date',
    ["date 'infinity'", 'infinity'],
    ["date '0044-03-15 (BC)'", '0044-03-15 BC'],
    ["date '5000-01-01 (BC)'", '-infinity'],
    ["date '5881580-07-10'", 'infinity'],
    ["date '2026-11-20'", '2026-11-20'],
    ['null::date', null],
  ],
  texts: [
    'text[]',
    ['[]::varchar[]', '{}'],
    ['null::varchar[]', null],
    [
      String.raw`['a,"b\c', null, '', 'NULL', '{}', 'n' || chr(0)]`,
      '{"a,\\"b\\\\c",NULL,"","NULL","{}",n\ufffd}',
    ],
    ['[null::varchar]', '{NULL}'],
    [`['x' || chr(10) || 'y']`, '{"x\ny"}'],
    ["['한국']", '{한국}'],
  ],
  numbers: [
    'double precision[]',
    ["[1.5, null, 'inf'::double]", '{1.5,NULL,Infinity}'],
    ['[]::double[]', '{}'],
    ['null::double[]', null],
    ["['nan'::double]", '{NaN}'],
    ['[-0.0::double]', '{0}'],
    ['[1e300]', '{1e+300}'],
  ],
  nested: [
    'jsonb',
    ['[[1], [2, 3]]::integer[][]', '[[1], [2, 3]]'],
    ['[]::integer[][]', '[]'],
    ['null::integer[][]', null],
    ['[null]::integer[][]', '[null]'],
    ['[[]]::integer[][]', '[[]]'],
    ['[[null]]::integer[][]', '[[null]]'],
  ],
  objects: [
    'jsonb',
    [`{'a': 'x' || chr(0) || chr(0) || 'y', 'b': 1}`, '{"a": "x\ufffd\ufffdy", "b": 1}'],
    [String.raw`{'a': '\u0000', 'b': null}`, '{"a": "\\\\u0000", "b": null}'],
    ["{'a': '', 'b': 0}", '{"a": "", "b": 0}'],
    [`{'a': '"', 'b': -1}`, '{"a": "\\"", "b": -1}'],
    ['null::struct(a varchar, b integer)', null],
    ["{'a': null, 'b': 2}", '{"a": null, "b": 2}'],
  ],
  amount: [
    'numeric(10,2)',
    ...['1.50', '-0.01', '0.00', '99999999.99', '1.00', '2.00'].map(
      (value) => [`${value}::decimal(10,2)`, value] as const,
    ),
  ],
  amounts: [
    'numeric(10,2)[]',
    ...['1.50', '-0.01', '0.00', '99999999.99', '1.00', '2.00'].map(
      (value) => [`[${value}]::decimal(10,2)[]`, `{${value}}`] as const,
    ),
  ],
  nanos: [
    'timestamp without time zone',
    ["timestamp_ns '2026-11-20 01:02:03.123456789'", '2026-11-20 01:02:03.123456'],
    ...['1', '2', '3', '4', '5'].map(
      (day) => [`timestamp_ns '2026-11-0${day} 00:00:00'`, `2026-11-0${day} 00:00:00`] as const,
    ),
  ],
};
const ROWS = [0, 1, 2, 3, 4, 5];

/** The odd rows, each with the values that another row has on the other night, so that all of them change. */
const night = (shift: number): string =>
  ROWS.map((i) => {
    const values = Object.entries(ODD).map(
      ([name, [, ...all]]) => `${all[(i + shift) % ROWS.length]?.[0]} as ${name}`,
    );
    return `select ${i}::bigint as lot_id, false as archived, ${values.join(', ')}`;
  }).join(' union all ');

describe.skipIf(postgresBin() === undefined)('values in Postgres (skipped without Postgres)', () => {
  let lake: Awaited<ReturnType<typeof twoNights>>;
  let postgres: Postgres;
  beforeAll(async () => {
    lake = await twoNights({ lots: ['lot_id'] }, [{ lots: night(0) }], [{ lots: night(1) }]);
    postgres = await startPostgres();
    await postgres.query("alter database site set timezone = 'UTC'");
    const sync = { site: { database: postgres.database, passwordFile: 'password', tables: ['lots'] } };
    writeFileSync(join(lake.config.output, 'lotlake.config.json'), JSON.stringify({ sync }));
    writeFileSync(join(lake.config.output, 'password'), postgres.password);
  });
  afterAll(async () => {
    await postgres.close();
    lake.remove();
  });

  const publish = (id: string): void => {
    const folder = join(lake.config.output, 'lake');
    symlinkSync(join('snapshots', id), join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'current'));
  };
  const sync = (...args: readonly string[]) => {
    const { code, out, err } = runLotlake(lake.config.output, 'sync', ...args);
    expect(code, err).toBe(0);
    return out;
  };
  const stored = () =>
    postgres.query(
      `select lot_id::int, ${Object.keys(ODD)
        .map((name) => `${name}::text`)
        .join(', ')} from lotlake.lots order by lot_id`,
    );
  const expected = (shift: number) =>
    ROWS.map((i) => ({
      lot_id: i,
      ...Object.fromEntries(
        Object.entries(ODD).map(([name, [, ...all]]) => [name, all[(i + shift) % ROWS.length]?.[1]]),
      ),
    }));

  it('are what they were, or what the page says, when they are copied and when they change', async () => {
    publish(lake.ids[0]);
    expect(sync('site')).toContain('6 rows sent');
    expect(await stored()).toEqual(expected(0));
    publish(lake.ids[1]);
    expect(sync('site')).toContain('6 rows sent');
    expect(await stored()).toEqual(expected(1));
    expect(sync('site')).toContain('0 rows sent');
    expect(sync('site', '--verify')).toContain('the same');
  });

  it('have the types that the page says', async () => {
    const types = await postgres.query(
      "select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute where attrelid = 'lotlake.lots'::regclass and attnum > 0",
    );
    const typeOf = Object.fromEntries(types.map(({ name, type }) => [String(name), type]));
    expect(typeOf).toEqual({
      ...{ lot_id: 'bigint', archived: 'boolean' },
      ...Object.fromEntries(Object.entries(ODD).map(([name, [type]]) => [name, type])),
    });
  });
});
