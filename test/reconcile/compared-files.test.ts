import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { identifier, literal, openSession, type Session } from '../../src/base/duck/session.js';
import type { Manifest } from '../../src/core/lake/manifest.js';
import type { Column, TableSchema } from '../../src/core/lake/schema.js';
import { mergeTable } from '../../src/core/reconcile/merge-table.js';
import type { MergeContext } from '../../src/core/reconcile/relations.js';
import { columnsInFile } from '../../src/core/reconcile/write.js';
import { schemasOf } from '../load/support.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
const base = join(folder.path, 'base');
let session: Session;
let prices: TableSchema;

/** Entries of the price history of each month: id and lot. */
const MONTHS: Readonly<Record<string, readonly (readonly [string, number])[]>> = {
  '2026-01': [
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ],
  '2026-02': [
    ['d', 4],
    ['e', 5],
  ],
  '2026-03': [['f', 6]],
};

/** SQL of a row with all columns of a table; those that are not given are null. */
const rowOf = (columns: readonly Column[], given: Readonly<Record<string, string>>): string =>
  `select ${columns.map(({ name, type }) => `cast(${given[name] ?? 'null'} as ${type}) as ${identifier(name)}`).join(', ')}`;

const entry = (columns: readonly Column[], id: string, lot: number, month: string, bid = 1): string =>
  rowOf(columns, {
    price_id: literal(id),
    ...{ lot_id: String(lot), vehicle_id: String(lot), domain_id: '3', bid: String(bid) },
    sale_date: `timestamptz '${month}-15 12:00:00+00'`,
  });

beforeAll(async () => {
  session = await openSession({ memory: '200MB', temp: join(folder.path, 'spill') });
  const found = (await schemasOf('cars')).find(({ table }) => table.name === 'prices');
  if (found === undefined) throw new Error('there is no table prices');
  prices = found;
  for (const [month, entries] of Object.entries(MONTHS)) {
    const path = join(base, 'prices', 'domain_id=3', `month=${month}`, 'data_0.parquet');
    mkdirSync(dirname(path), { recursive: true });
    const columns = columnsInFile(prices);
    const sql = entries.map(([id, lot]) => entry(columns, id, lot, month)).join(' union all ');
    await session.connection.run(`copy (${sql}) to ${literal(path)} (format parquet)`);
  }
  await session.connection.run(`
    create schema run;
    create table run.hidden_sources (domain_id bigint);
    create table run.delivering_lots (lot_id bigint, prices boolean, images boolean)`);
});
afterAll(async () => {
  await session.close();
  folder.remove();
});

/** Merges entries of lots that came with their list of prices. Returns the counts, and the months whose files are linked. */
async function merge(run: string, entries: readonly (readonly [string, number, string, number])[]) {
  const { connection } = session;
  const lots = [...new Set(entries.map(([, lot]) => lot))];
  await connection.run(`delete from run.delivering_lots;
    insert into run.delivering_lots values ${lots.map((lot) => `(${lot}, true, false)`).join(', ')}`);
  const content = prices.content.filter(({ name }) => name !== 'rejected');
  const columns = [...content, { name: 'rejected', type: 'VARCHAR[]' }];
  const rows = entries.map(
    ([id, lot, month, bid]) =>
      `select *, '3' as _domain, '${month}' as _month from (${entry(columns, id, lot, month, bid)})`,
  );
  await connection.run(`create or replace table fresh as ${rows.join(' union all ')}`);
  const files = Object.entries(MONTHS).map(([month, known]) => {
    const path = `prices/domain_id=3/month=${month}/data_0.parquet`;
    return { path, rows: known.length, bytes: statSync(join(base, path)).size };
  });
  const stored = {
    ...{ columns: prices.columns, key: ['lot_id', 'price_id'], partitioned: true, files },
    ...{ rows: 6, bytes: 0, last_field_id: 0, gone_fields: [] },
  };
  const target = join(folder.path, run);
  const context: MergeContext = {
    ...session,
    ...{ schemas: new Map([['prices', prices]]), stage: join(folder.path, 'stage'), target, snapshot: run },
    base: { folder: base, manifest: { tables: { prices: stored } } as unknown as Manifest },
    ...{ runId: run, startedAt: '2026-11-20T02:00:00Z', seenAt: '2026-11-20T02:00:00Z', passes: [] },
    ...{ shrinkGuard: 0.2, mostRecordBytes: 4 << 20, allowShrink: false },
  };
  mkdirSync(target, { recursive: true });
  return mergeTable(context, prices, { relation: 'fresh', compared: content });
}

it('reads only the files in which a delivered lot has rows', async () => {
  expect(await merge('one', [['d', 4, '2026-02', 2]])).toMatchObject({ updated: 1, gone: 0, compared: 2 });
});

it('keeps the entry of another lot with the same id', async () => {
  expect(await merge('two', [['f', 4, '2026-03', 1]])).toMatchObject({
    inserted: 1,
    updated: 0,
    gone: 1,
    compared: 2,
  });
});

it('reads no file for an entry that is new, of a lot without any', async () => {
  expect(await merge('three', [['z', 9, '2026-03', 1]])).toMatchObject({
    inserted: 1,
    updated: 0,
    gone: 0,
    compared: 0,
  });
});
