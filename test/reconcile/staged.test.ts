import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTemporarySession, rows, type TemporarySession } from '../../src/base/duck/session.js';
import { stagedFiles } from '../../src/core/lake/staged.js';
import { emptyOf } from '../../src/core/reconcile/relations.js';
import { createSchemas, oncePerKey, RUN_RELATIONS } from '../../src/core/reconcile/state.js';
import type { StreamName } from '../../src/core/service/streams.js';
import { schemasOf } from '../load/support.js';
import { bareDuckDb, temporaryFolder } from '../pipelines/support.js';

/** Stages rows of a wide table, by partition as a large batch does, or as one file. */
async function stage(folder: string, batches: readonly ('parts' | 'whole')[]): Promise<number[]> {
  const duck = await bareDuckDb();
  mkdirSync(folder);
  for (const [i, batch] of batches.entries()) {
    const rows = `select 10 * ${i} + n as lot_id, ['a', 'b'] as tags, '3' as _domain, '2026-1' || n as _month from range(3) as r(n)`;
    const to = batch === 'whole' ? `${folder}/${i}.parquet' (format parquet` : `${folder}' (format parquet`;
    const by =
      batch === 'whole'
        ? ''
        : `, partition_by (_domain, _month), overwrite_or_ignore true, filename_pattern '${i}-{i}'`;
    await duck.query(`copy (${rows}) to '${to}${by})`);
  }
  const found = await duck.query(
    `select lot_id, _domain || _month as place, len(tags) as tags from ${stagedFiles(join(folder, '..'), 'lots')} order by all`,
  );
  duck.close();
  for (const { lot_id, place, tags } of found)
    expect([place, tags]).toEqual([`32026-1${Number(lot_id) % 10}`, 2]);
  return found.map(({ lot_id }) => Number(lot_id));
}

describe('rows of a wide table', () => {
  it.each([[['parts']], [['whole']], [['parts', 'whole']], [['whole', 'parts', 'whole']]] as const)(
    'are read as they were staged: %j',
    async (batches) => {
      const folder = temporaryFolder();
      try {
        const expected = batches.flatMap((_, i) => [10 * i, 10 * i + 1, 10 * i + 2]);
        expect(await stage(join(folder.path, 'lots'), batches)).toEqual(expected);
      } finally {
        folder.remove();
      }
    },
  );
});

describe('staged rows with one row per key', () => {
  let opened: TemporarySession;
  beforeAll(async () => {
    opened = await openTemporarySession({ memory: '500MB', threads: 1 });
  });
  afterAll(() => opened.close());

  /** The rows that count of staged rows given by column, as texts of some columns, and the number of lost rows. */
  async function count(stream: StreamName, table: string, columns: string, values: string) {
    const { connection } = opened.session;
    const schema = (await schemasOf(stream)).find((each) => each.table.name === table);
    if (schema === undefined) throw new Error(`there is no table ${table}`);
    const types = new Map(schema.staged.map(({ name, type }) => [name, type]));
    await createSchemas(connection);
    for (const [name, of] of Object.entries(RUN_RELATIONS))
      await connection.run(`create table run.${name} (${of})`);
    await connection.run("insert into run.facts (ended_at) values ('2026-11-20 04:00:00+00')");
    await connection.run(
      `create or replace table staged as ${emptyOf(schema.staged)} union all by name
       select ${columns.split(', ').map((name) => `cast(${name} as ${types.get(name)}) as ${name}`)} from (values ${values}) as r(${columns})`,
    );
    const relation = await oncePerKey(connection, schema, 'staged');
    const found = await rows(
      connection,
      `select concat_ws(' ', ${columns}) as row from ${relation} order by 1`,
    );
    const [lost] = await rows(
      connection,
      'select coalesce(sum(rows), 0)::int as lost from run.repeated_rows',
    );
    return { rows: found.map(({ row }) => row), lost: lost?.lost };
  }

  it.each([
    [
      'all if no key comes twice',
      "(1, null, 0), (1, '2026-11-20', 1), (2, null, 2)",
      ['1 0', '1 2026-11-20 00:00:00+00 1', '2 2'],
    ],
    [
      'the row that was received last',
      "(1, '2026-11-20', 0), (1, '2026-11-20', 2), (2, null, 3)",
      ['1 2026-11-20 00:00:00+00 2', '2 3'],
    ],
    ['one if a part of the key is null', '(1, null, 4), (1, null, 0), (1, null, 2)', ['1 4']],
  ])('are %s', async (_, values, expected) => {
    const found = await count('archived_lots', 'archived_lots', 'lot_id, archived_at, _seq', values);
    expect(found).toEqual({ rows: expected, lost: 0 });
  });

  it('are of other records that differ, which is counted', async () => {
    const values = "(1, 'Kia', 0), (1, 'Kia', 1), (1, 'Opel', 2), (2, 'Fiat', 3)";
    const found = await count('manufacturers', 'manufacturers', 'manufacturer_id, name, _seq', values);
    expect(found).toEqual({ rows: ['1 Opel 2', '2 Fiat 3'], lost: 1 });
  });

  it('are the newest copy of a lot, else the one that was received last; a time of the future is none', async () => {
    const values = `(1, 9, '2026-11-19', 10, 1), (1, 9, '2026-11-18', 20, 2),
      (2, 9, '2026-11-19', 10, 1), (2, 9, '2026-11-19', 20, 2),
      (3, 9, null, 10, 2), (3, 9, null, 20, 1),
      (4, 9, '2199-01-01', 10, 1), (4, 9, '2026-11-18', 20, 2)`;
    const found = await count('cars', 'lots', 'lot_id, vehicle_id, updated_at, bid, _seq', values);
    expect(found.rows.map((row) => String(row).replace(/2026\S* \S+/, '-'))).toEqual([
      '1 9 - 10.0 1',
      '2 9 - 20.0 2',
      '3 9 10.0 2',
      '4 9 - 20.0 2',
    ]);
    // Earlier copies of a vehicle are not lost.
    expect(found.lost).toBe(0);
  });

  it('are the last of its list if one record has the key twice, which is counted if they differ', async () => {
    const values = `(1, 7, 100, 1, 5.0, 1), (1, 7, 100, 2, 6.0, 1), (1, 7, 100, 3, 6.0, 1),
      (2, 7, 100, 4, 6.0, 1), (3, 7, 100, 1, 6.0, 1), (3, 7, 100, 2, 6.0, 1), (1, 8, 100, 1, 9.0, 2)`;
    const found = await count('cars', 'prices', 'price_id, lot_id, vehicle_id, position, bid, _seq', values);
    expect(found).toEqual({
      rows: ['1 7 100 3 6.0 1', '1 8 100 1 9.0 2', '2 7 100 4 6.0 1', '3 7 100 2 6.0 1'],
      lost: 1,
    });
  });

  it('come together if a number in their list is their key', async () => {
    const listings = `(7, 1, true, 2), (7, 2, false, 1), (7, 1, false, 1), (8, 1, true, 1), (8, 2, true, 1)`;
    const found = await count(
      'cars',
      'listings',
      'vehicle_id, position, has_history_reports, _seq',
      listings,
    );
    expect(found).toEqual({ rows: ['7 1 true 2', '8 1 true 1', '8 2 true 1'], lost: 0 });
    const measured = `(3, 'l', 'r', 100, 1, 1, 'a', 1), (3, 'l', 'r', 100, 2, 1, 'b', 1), (3, 'l', 'r', 100, 1, 1, 'c', 2),
      (3, 'l', 's', 100, 1, 1, 'd', 1)`;
    const columns =
      'domain_id, listing_id, report_id, vehicle_id, checked_item_position, position, description, _seq';
    expect(await count('cars', 'measurements', columns, measured)).toEqual({
      rows: ['3 l r 100 1 1 c 2', '3 l s 100 1 1 d 1'],
      lost: 0,
    });
  });
});
