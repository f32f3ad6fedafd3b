import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bareDuckDb, type PlainRow } from '../pipelines/support.js';
import {
  exportTo,
  filesBelow,
  type HandMade,
  handMadeLake,
  LOTS,
  PUBLISHED,
  SALES,
  SNAPSHOT,
} from '../query/support.js';

let lake: HandMade;
let duck: Awaited<ReturnType<typeof bareDuckDb>>;
let lots: PlainRow[];

beforeAll(async () => {
  lake = await handMadeLake({ lots: LOTS }, { sales: SALES });
  duck = await bareDuckDb();
  lots = await duck.query(`from (${LOTS}) order by lot_id`);
});
afterAll(() => {
  duck.close();
  lake.remove();
});

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** The part of a Data Package 2 descriptor that an export uses. */
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

describe('the files beside the exported data', () => {
  it('include a data package that agrees with the files', async () => {
    const { at } = await exportTo(lake, { tables: ['lots', 'sales'], maxBytes: '1KB', format: 'csv' });
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

  it('describe a list as an array, whatever it holds', async () => {
    const sales = "select 1 as lot_id, [timestamptz '2026-11-20T00:00:00Z'] as sale_date, [1.5] as price";
    const own = await handMadeLake({ lots: LOTS }, { sales });
    const { at } = await exportTo(own, { tables: ['sales'] });
    const [described] = dataPackage.parse(readJson(at('datapackage.json'))).resources;
    expect(described?.schema.fields.map(({ type }) => type)).toEqual(['integer', 'array', 'array']);
    own.remove();
  });

  it('name no primary key if one of its columns is left out', async () => {
    const { at } = await exportTo(lake, { tables: ['sales'], columns: ['lot_id', 'price'] });
    expect(
      dataPackage.parse(readJson(at('datapackage.json'))).resources[0]?.schema.primaryKey,
    ).toBeUndefined();
    expect(readFileSync(at('dictionary.md'), 'utf8')).toContain('Key: not exported');
  });

  it('include a dictionary with each exported column', async () => {
    const { at } = await exportTo(lake, { tables: ['lots'] });
    const columns = Object.keys(lots[0] ?? {});
    const read = await duck.query(`select * from read_csv('${at('dictionary.csv')}', all_varchar = true)`);
    expect(read.map((row) => [row.table, row.column])).toEqual(columns.map((name) => ['lots', name]));
    expect(read.find((row) => row.column === 'bid')).toMatchObject({ type: 'DOUBLE', source: 'lots[].bid' });
    const page = readFileSync(at('dictionary.md'), 'utf8');
    for (const name of columns) expect(page).toContain(`| \`${name}\` |`);
  });

  it('include a README with the snapshot, the numbers of rows and how to open them', async () => {
    const { at } = await exportTo(lake, { tables: ['lots', 'sales'], format: 'csv' });
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

  it('include a checksum of every file but the list of checksums', async () => {
    const { at, path: folder } = await exportTo(lake, { tables: ['lots', 'sales'], maxBytes: '1KB' });
    const lines = readFileSync(at('SHA256SUMS'), 'utf8').trimEnd().split('\n');
    const summed = lines.map((line) => line.slice(66));
    expect([...summed, 'SHA256SUMS'].sort()).toEqual(filesBelow(folder));
    for (const line of lines) expect(line).toBe(`${sha256(at(line.slice(66)))}  ${line.slice(66)}`);
  });
});
