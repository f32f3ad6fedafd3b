import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTemporarySession, type Session, type TemporarySession } from '../../src/base/duck/session.js';
import type { LandedPage } from '../../src/core/lake/passes/landed-page.js';
import { openPass, type Pass } from '../../src/core/lake/passes/pass.js';
import type { TableSchema } from '../../src/core/lake/schema.js';
import { RECEIPT_BITS, rejectsFile } from '../../src/core/lake/staged.js';
import { sinksOf } from '../../src/core/land/step.js';
import { LoadError, Loader } from '../../src/core/load/loader.js';
import { pageOf } from '../land/support.js';
import { bareDuckDb, type PlainRow, temporaryFolder } from '../pipelines/support.js';
import { schemasOf } from './support.js';

const NIGHT = new Date('2026-11-20T02:00:00Z');

let opened: TemporarySession;
let duck: Awaited<ReturnType<typeof bareDuckDb>>;
let schemas: ReadonlyMap<string, TableSchema>;
beforeAll(async () => {
  opened = await openTemporarySession({ memory: '500MB', threads: 1 });
  duck = await bareDuckDb();
  schemas = new Map((await schemasOf('cars')).map((schema) => [schema.table.name, schema]));
});
afterAll(() => {
  opened.close();
  duck.close();
});

let folder: ReturnType<typeof temporaryFolder>;
let pass: Pass;
let stage: string;
let warnings: string[];
beforeEach(() => {
  folder = temporaryFolder();
  stage = join(folder.path, 'stage');
  warnings = [];
  const request = { per_page: 1000, simple_paginate: 0 };
  const opening = {
    stream: 'cars',
    run_id: '20261120T020000Z-00000a',
    sequence: 1,
    origin: null,
    kind: 'full',
    request,
    contract: 'c',
  } as const;
  pass = openPass(join(folder.path, 'landing'), opening, NIGHT);
});
afterEach(() => folder.remove());

/** Lands pages of the records, each given as its JSON text, in the pass. */
async function landed(...pages: readonly (readonly string[])[]): Promise<LandedPage[]> {
  const sink = sinksOf(pass)('');
  const found: LandedPage[] = [];
  for (const [i, records] of pages.entries()) {
    const body = (async function* () {
      yield Buffer.from(pageOf([]).replace('[]', () => `[${records.join(',')}]`));
    })();
    const answer = { url: 'https://service.example/api/cars', body };
    found.push(await sink.land(i + 1, answer, NIGHT.toISOString()));
  }
  return found;
}

const loaderOf = (session: Session = opened.session): Loader =>
  new Loader({
    ...{ session, schemas, stage, pass },
    warn: (text) => warnings.push(text),
  });

/** The session of the tests. A statement fails if `faultOf` returns a message for it. */
const failing = (faultOf: (sql: string) => string | undefined): Session => ({
  ...opened.session,
  memoryBytes: opened.session.memoryBytes,
  connect: async () => {
    const connection = await opened.session.connect();
    const run = connection.run.bind(connection);
    connection.run = async (sql, ...rest) => {
      const fault = faultOf(sql);
      if (fault !== undefined) throw new Error(fault);
      return run(sql, ...rest);
    };
    return connection;
  },
});

async function load(pages: readonly LandedPage[], session?: Session) {
  const loader = loaderOf(session);
  for (const page of pages) loader.add(page);
  return loader.finish();
}

const staged = (table: string, columns = '*'): Promise<PlainRow[]> =>
  duck.query(`select ${columns} from '${join(stage, table, '*.parquet')}' order by all`);
const filesOf = (table: string): string[] => readdirSync(join(stage, table)).sort();
const rejects = (): Readonly<Record<string, unknown>>[] =>
  readFileSync(rejectsFile(stage, pass.record.pass_id), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const vehicle = (id: number, members = '', lot = ''): string =>
  `{"id":${id}${members},"lots":[{"id":${id * 10},"lot":"n${id}","bid":${id}.5${lot}}]}`;

describe('the loader of a pass', () => {
  it('stages a row for each record, with the order in which its page arrived and its place there', async () => {
    const result = await load(await landed([vehicle(1), vehicle(2)], [vehicle(3)]));
    expect(result).toMatchObject({ served: 3, records: 3, loaded: 3, rejected: 0, rejectedValues: 0 });
    expect(await staged('vehicles', 'vehicle_id, _seq')).toEqual([
      { vehicle_id: 1, _seq: 1 },
      { vehicle_id: 2, _seq: 2 },
      { vehicle_id: 3, _seq: 2 ** RECEIPT_BITS + 3 },
    ]);
    expect(await staged('lots', 'lot_id, vehicle_id, lot, bid')).toEqual([
      { lot_id: 10, vehicle_id: 1, lot: 'n1', bid: 1.5 },
      { lot_id: 20, vehicle_id: 2, lot: 'n2', bid: 2.5 },
      { lot_id: 30, vehicle_id: 3, lot: 'n3', bid: 3.5 },
    ]);
    expect(filesOf('lots')).toEqual([`${pass.record.pass_id}-00000.parquet`]);
    expect(warnings).toEqual([]);
  });

  it('loads the readable part of a page that does not fit, and rejects the rest', async () => {
    const broken = `{"id":"none","lots":[]}`;
    const pages = await landed([vehicle(1)], [vehicle(2, ',"year":"new"', ',"sale_date":"soon"'), broken]);
    expect(await load(pages)).toMatchObject({ records: 3, loaded: 2, rejected: 1, rejectedValues: 2 });
    expect(rejects().map(({ page, position, path, raw }) => [page, position, path, raw])).toEqual([
      [2, 0, 'year', '"new"'],
      [2, 0, 'lots[0].sale_date', '"soon"'],
      [2, 1, 'id', broken],
    ]);
    expect(await staged('vehicles', 'vehicle_id, year, rejected')).toEqual([
      { vehicle_id: 1, year: null, rejected: null },
      { vehicle_id: 2, year: null, rejected: ['year'] },
    ]);
    expect(await staged('lots', 'lot_id, sale_date, rejected')).toEqual([
      { lot_id: 10, sale_date: null, rejected: null },
      { lot_id: 20, sale_date: null, rejected: ['sale_date'] },
    ]);
  });

  it('takes numbers that are written as text', async () => {
    const text = '{"id":"7","lots":[{"id":"70","bid":"1500.25"}]}';
    expect(await load(await landed([text]))).toMatchObject({ loaded: 1, rejected: 0, rejectedValues: 0 });
    expect(await staged('lots', 'lot_id, vehicle_id, bid')).toEqual([
      { lot_id: 70, vehicle_id: 7, bid: 1500.25 },
    ]);
  });

  it('loads values of an untyped member as text or JSON, whatever they are', async () => {
    const values = ['true', '7', '1.5', '"text"', '["a",1]', '{"of":"b"}'];
    const pages = values.map((value, i) => [
      vehicle(
        i + 1,
        `,"vehicle_history_reports":[{"report_id":"r${i}","vehicle_ref":{"domain_id":12,"listing_id":"l"},
          "source":{"mapper_version":${value}},"events":[{"id":"e","source_code":${value}}]}]`,
        `,"damage":{"main":{"id":${value}}},"airbags":${value},"prices":[{"id":${value}}],
          "images":{"id":${i},"exterior":${value},"interior":${value}},
          "selling_branch":${i % 2 === 0 ? value : `{"id":1,"number":${value}}`}`,
      ),
    ]);
    const result = await load(await landed(...pages));
    expect(result).toMatchObject({ loaded: values.length, rejected: 0, rejectedValues: 0 });
    const texts = ['true', '7', '1.5', 'text', '["a",1]', '{"of":"b"}'];
    const column = async (table: string, name: string, order: string) =>
      (
        await duck.query(`select ${name} as v from '${join(stage, table, '*.parquet')}' order by ${order}`)
      ).map(({ v }) => v);
    expect(await column('lots', 'damage_main_id', 'lot_id')).toEqual(texts);
    expect(await column('prices', 'price_id', 'lot_id')).toEqual(texts);
    expect(await column('history_reports', 'source_mapper_version', 'report_id')).toEqual(texts);
    expect(await column('events', 'source_code', 'report_id')).toEqual(texts);
    const lists = texts.map((text) => (text.startsWith('[') ? ['a', '1'] : [text]));
    for (const name of ['exterior', 'interior'])
      expect(await column('lot_images', name, 'lot_id'), name).toEqual(lists);
    const nameOrNumber = 'coalesce(selling_branch_name, selling_branch_number)';
    expect(await column('lots', nameOrNumber, 'lot_id')).toEqual(texts);
    expect(await column('lots', 'selling_branch_id', 'lot_id')).toEqual([null, 1, null, 1, null, 1]);
    // A whole number is the id of the airbags. Members of an object are unknown to the contract.
    const airbags = 'coalesce(airbags_name, cast(airbags_id as varchar), extra)';
    expect(await column('lots', airbags, 'lot_id')).toEqual([...texts.slice(0, 5), '{"airbags.of":"b"}']);
  });

  it('takes the last of repeated members, and no value with half of a surrogate pair', async () => {
    const pages = await landed([
      vehicle(1, ',"title":"first","title":"last"'),
      vehicle(2, '', String.raw`,"note":"half \ud83d","details":{"text":"\ude00"}`),
    ]);
    expect(await load(pages)).toMatchObject({ loaded: 2, rejected: 0, rejectedValues: 2 });
    expect(await staged('vehicles', 'vehicle_id, title')).toEqual([
      { vehicle_id: 1, title: 'last' },
      { vehicle_id: 2, title: null },
    ]);
    expect(await staged('lots', 'lot_id, note, details')).toEqual([
      { lot_id: 10, note: null, details: null },
      { lot_id: 20, note: null, details: null },
    ]);
    expect(rejects().map(({ path, raw }) => [path, raw])).toEqual([
      ['lots[0].note', String.raw`"half \ud83d"`],
      ['lots[0].details', String.raw`{"text":"\ude00"}`],
    ]);
  });

  it('keeps the lot that a price names, beside the lot that lists the price', async () => {
    const prices = ',"prices":[{"id":"a","lot_id":424242},{"id":"b","lot_id":10},{"id":"c"}]';
    await load(await landed([vehicle(1, '', prices)]));
    expect(await staged('prices', 'price_id, lot_id, stated_lot_id')).toEqual([
      { price_id: 'a', lot_id: 10, stated_lot_id: 424242 },
      { price_id: 'b', lot_id: 10, stated_lot_id: null },
      { price_id: 'c', lot_id: 10, stated_lot_id: null },
    ]);
  });

  it('keeps unknown members in extra, and reports each with its first place', async () => {
    const pages = await landed(
      [vehicle(1), vehicle(2, ',"battery":{"kwh":77}')],
      [vehicle(3, ',"battery":null', ',"seller":{"name":"A","rating":5}')],
    );
    const { drift } = await load(pages);
    expect(drift.map(({ path, page, position, kept }) => [path, page, position, kept])).toEqual([
      ['battery', 1, 1, true],
      ['lots[].seller.rating', 2, 0, true],
    ]);
    expect(await staged('vehicles', 'vehicle_id, extra')).toEqual([
      { vehicle_id: 1, extra: null },
      { vehicle_id: 2, extra: '{"battery":{"kwh":77}}' },
      { vehicle_id: 3, extra: null },
    ]);
    expect(await staged('lots', 'lot_id, extra')).toMatchObject([
      { extra: null },
      { extra: null },
      { extra: '{"seller.rating":5}' },
    ]);
  });

  it('loads a failed batch page by page, and names the page that cannot be loaded', async () => {
    const pages = await landed([vehicle(1)], [vehicle(2)], [vehicle(3)]);
    truncateSync(join(pass.folder, pages[1]?.file ?? ''), 20);
    const failed = load(pages);
    await expect(failed).rejects.toBeInstanceOf(LoadError);
    await expect(failed).rejects.toMatchObject({
      ...{ code: 'LOAD_FAILED', page: pages[1]?.file, hint: expect.stringContaining(pass.folder) },
      message: expect.stringMatching(/^page 2 of pass .* cannot be loaded: /),
    });
    expect(warnings).toEqual([expect.stringMatching(/^a batch of \/cars is loaded page by page: /)]);
    expect(filesOf('lots')).toEqual([`${pass.record.pass_id}-00000-0.parquet`]);
  });

  describe('of three pages that is loaded page by page', () => {
    /** Fails the statements over the records of some of the pages. */
    const faults = (whole: string, second?: string) =>
      failing((sql) => {
        if (!sql.includes('read_json(')) return undefined;
        if (sql.includes('000001') && sql.includes('000003')) return whole;
        return sql.includes('000002') ? second : undefined;
      });
    const three = (): Promise<LandedPage[]> => landed(['{"id":1}'], ['{"id":2}'], ['{"id":3}']);
    const MEMORY = 'Out of Memory Error: it is too much';

    it('loads each record once, and warns of what did not fit into memory', async () => {
      const { records, loaded } = await load(await three(), faults(MEMORY));
      expect({ records, loaded }).toEqual({ records: 3, loaded: 3 });
      expect(await staged('vehicles', 'vehicle_id')).toHaveLength(3);
      expect(warnings).toEqual([expect.stringMatching(/^1 of 1 batches of .* did not fit into memory/)]);
    });

    it.each([
      ['fails', 'Some Error', 'is loaded page by page: Some Error'],
      ['does not fit into memory', MEMORY, 'did not fit into memory'],
    ])('names the page that does not fit into memory, after the whole batch %s', async (_, whole, warned) => {
      const loading = load(await three(), faults(whole, MEMORY));
      await expect(loading).rejects.toThrow(/^page 2 of pass .* cannot be loaded: Out of Memory Error/);
      expect(warnings).toEqual([expect.stringContaining(warned)]);
    });
  });

  it('stages nothing after it was stopped', async () => {
    const loader = loaderOf();
    for (const page of await landed([vehicle(1)])) loader.add(page);
    await loader.stop();
    expect(readdirSync(stage)).toEqual([]);
  });

  it('gives counts of zero for a pass without records', async () => {
    expect(await load(await landed([]))).toMatchObject({ served: 0, records: 0, loaded: 0, drift: [] });
    expect(readdirSync(stage)).toEqual([]);
  });
});
