import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { nightly } from '../../../pipelines/nightly.js';
import { rebuild } from '../../../pipelines/rebuild.js';
import { createWorld } from '../../../src/sandbox/index.js';
import {
  bareDuckDb,
  configFor,
  lastPage,
  type PlainRow,
  serve,
  silentReporter,
  temporaryFolder,
} from '../../pipelines/support.js';
import { firstLot, recordsOf, type VehicleRecord } from '../../served.js';
import { readCases } from '../cases.js';

/**
 * One record of the feed and its expected rows. One night brings all of them, each in place of a vehicle of the sandbox. In
 * a JSON text, `<300×a>` is `a` repeated 300 times.
 */
const schema = z.strictObject({
  what: z.string().describe('What is wrong and what must happen, in a sentence.'),
  set: z
    .record(z.string(), z.string())
    .default({})
    .describe('JSON texts of members by path, such as lots[0].bid; the rest is as in the sandbox.'),
  vehicles: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      'Columns of the row of the vehicle. Texts that a JSON text cannot hold are cut to their beginning.',
    ),
  lots: z.record(z.string(), z.unknown()).default({}).describe('Columns of the row of its first lot.'),
  rejected: z
    .record(z.string(), z.string())
    .default({})
    .describe('Raw texts of exactly the values that are rejected, by path.'),
  reject: z.string().optional().describe('Path because of which the whole record is rejected.'),
});

const cases = readCases('records', schema);
const folder = temporaryFolder();
const lake = join(folder.path, 'lake', 'current');
const ids: number[] = [];
const lots: number[] = [];
let duck: Awaited<ReturnType<typeof bareDuckDb>>;
const reporter = silentReporter();
let rejects: PlainRow[];

const filled = (text: string): string =>
  text.replaceAll(/<(\d+)×(.*?)>/gs, (_, times, part) => String(part).repeat(Number(times)));

beforeAll(async () => {
  const world = createWorld({ vehicles: cases.length * 2, seed: 5 });
  const records = recordsOf(world)
    .filter((record) => record.lots.length > 0)
    .slice(0, cases.length);
  expect(records).toHaveLength(cases.length);
  const texts = records.map((record, i) => {
    ids.push(record.id);
    lots.push(firstLot(record).id);
    return withMembers(record, cases[i]?.set ?? {});
  });
  const page = JSON.stringify(lastPage([])).replace('"data":[]', () => `"data":[${texts.join(',')}]`);
  const service = await serve((url) => {
    if (url.pathname !== '/api/cars') return { status: 404, body: { error: 'unknown' } };
    return { body: Number(url.searchParams.get('page')) === 1 ? page : lastPage([]) };
  });
  const now = (): Date => new Date('2026-11-20T02:00:00Z');
  const config = configFor(service.url, folder.path, { rejectAlarm: 1 });
  await nightly({ config, reporter, now });
  await service.close();
  duck = await bareDuckDb();
  rejects = await duck.query(`select * from '${join(lake, 'rejects', '*.parquet')}'`);
}, 120_000);
afterAll(() => {
  duck?.close();
  folder.remove();
});

/** The JSON text of a record in which some members have other texts. */
function withMembers(record: VehicleRecord, members: Readonly<Record<string, string>>): string {
  const texts: string[] = [];
  for (const [path, text] of Object.entries(members)) {
    const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
    const last = steps.pop() ?? '';
    const parent = steps.reduce<object>(memberOf, record);
    Reflect.set(parent, last, `\u0001${texts.push(filled(text)) - 1}\u0001`);
  }
  return JSON.stringify(record).replaceAll(/"\\u0001(\d+)\\u0001"/g, (_, i) => texts[Number(i)] ?? '');
}

/** The object or list that a member holds. Creates an empty object if there is none. */
function memberOf(parent: object, name: string): object {
  const found: unknown = Reflect.get(parent, name);
  if (typeof found === 'object' && found !== null) return found;
  const made = {};
  Reflect.set(parent, name, made);
  return made;
}

/** The row of a table that a record became, with the columns that its case expects. */
async function rowOf(table: string, key: string, expected: Readonly<Record<string, unknown>>) {
  const rows = await duck.query(`select * from '${join(lake, table, '**', '*.parquet')}' where ${key}`);
  expect(rows).toHaveLength(1);
  return Object.fromEntries(Object.keys(expected).map((name) => [name, rows[0]?.[name]]));
}

describe(`${cases.length} records`, () => {
  it.each(cases.map((given, i) => ({ ...given, i })))('$name: $what', async (given) => {
    const own = rejects.filter((row) => row.position === given.i);
    const values = own.filter(({ table_name }) => table_name !== null);
    const expected = Object.entries(given.rejected).map(([path, raw]) => [path, filled(raw)]);
    expect(Object.fromEntries(values.map(({ path, raw }) => [path, raw]))).toEqual(
      Object.fromEntries(expected),
    );
    expect(own.filter(({ table_name }) => table_name === null).map(({ path }) => path)).toEqual(
      given.reject === undefined ? [] : [given.reject],
    );
    if (given.reject !== undefined) return;
    const texts = (row: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(Object.entries(row).map(([n, v]) => [n, typeof v === 'string' ? filled(v) : v]));
    const vehicle = await rowOf('vehicles', `vehicle_id = ${ids[given.i]}`, given.vehicles);
    expect(vehicle).toEqual(texts(given.vehicles));
    const lot = await rowOf('lots', `lot_id = ${lots[given.i]}`, given.lots);
    expect(lot).toEqual(texts(given.lots));
  });

  it('are readable by another reader, in partitions by month', async () => {
    const names = readdirSync(lake, { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((file) => file.endsWith('.parquet'))) {
      const month = /month=([^/]*)/.exec(name)?.[1] ?? '2026-11';
      expect(month).toMatch(/^(\d{4}-\d{2}|unknown)$/);
      const bytes = readFileSync(join(lake, name));
      const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
      for (const row of await parquetReadObjects({ file, compressors }))
        for (const value of Object.values(row))
          if (value instanceof Date) expect(Number.isNaN(value.getTime()), name).toBe(false);
    }
  });

  it('give the same rejects in a rebuild', async () => {
    const before = await duck.query(
      `select path, raw from '${join(lake, 'rejects', '*.parquet')}' order by all`,
    );
    const config = configFor('http://127.0.0.1:9', folder.path, { rejectAlarm: 1 });
    await rebuild({ config, reporter: silentReporter(), now: () => new Date('2026-11-20T03:00:00Z') });
    expect(
      await duck.query(`select path, raw from '${join(lake, 'rejects', '*.parquet')}' order by all`),
    ).toEqual(before);
  });
});
