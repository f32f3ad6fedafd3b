import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base, lot } from './cases.js';
import { computeReports, GONE } from './report-cases.js';
import { type Given, openLake, type TestLake, texts } from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const pair = (duplicate: number | string, original: number | string, rest: Given = {}): Given => ({
  duplicate_id: String(duplicate),
  original_id: String(original),
  ...rest,
});

/** The pairs as `duplicate → original: root after hops`. */
async function resolved(duplicates: readonly Given[]): Promise<string[]> {
  await computeReports(lake, { duplicates });
  const found = await texts(
    lake,
    'select * from duplicate_lots order by try_cast(duplicate_id as bigint), duplicate_id, original_id',
  );
  return found.map(
    (row) =>
      `${row.duplicate_id} → ${row.original_id}: ${row.is_cycle ? 'cycle' : `${row.root_id} after ${row.hops}`}`,
  );
}

describe('duplicate_lots', () => {
  it('follows a chain to its root', async () => {
    expect(await resolved([pair(4, 3), pair(2, 1), pair(3, 2), pair(9, 1)])).toEqual([
      '2 → 1: 1 after 1',
      '3 → 2: 1 after 2',
      '4 → 3: 1 after 3',
      '9 → 1: 1 after 1',
    ]);
  });

  it('marks a cycle and the chains into it, and ends', async () => {
    expect(await resolved([pair(1, 2), pair(2, 3), pair(3, 2), pair(7, 7), pair(8, 7)])).toEqual([
      '1 → 2: cycle',
      '2 → 3: cycle',
      '3 → 2: cycle',
      '7 → 7: cycle',
      '8 → 7: 7 after 1',
    ]);
  });

  it('follows the lowest of several originals, and shows each pair', async () => {
    expect(await resolved([pair(5, 13), pair(5, 2), pair(6, 5), pair(5, 1, { gone_at: GONE })])).toEqual([
      '5 → 13: 13 after 1',
      '5 → 2: 2 after 1',
      '6 → 5: 2 after 2',
    ]);
  });

  it('gives ids the type of lot numbers', async () => {
    const types = await texts(
      lake,
      `select distinct data_type from duckdb_columns()
       where (table_name, column_name) in
         (('lots', 'lot'), ('duplicates', 'duplicate_id'), ('duplicates', 'original_id'))`,
    );
    expect(types).toEqual([{ data_type: 'VARCHAR' }]);
    expect(await resolved([pair('K-2', '01'), pair('K-3', 'K-2')])).toEqual([
      'K-2 → 01: 01 after 1',
      'K-3 → K-2: 01 after 2',
    ]);
  });

  it('resolves a long chain', async () => {
    const chain = Array.from({ length: 300 }, (_, place) => pair(place + 2, place + 1));
    expect((await resolved(chain)).at(-1)).toBe('301 → 300: 1 after 300');
  });

  it('finds the lots of source 12 behind the numbers, with their asking prices', async () => {
    const lots = [
      lot({ lot_id: 1, lot: '100', domain_id: 12, buy_now: 9000.5 }),
      lot({ lot_id: 2, lot: ' 200 ', domain_id: 12, buy_now: 0, archived: true }),
      lot({ lot_id: 3, lot: '100', domain_id: 3, buy_now: 70 }),
      lot({ lot_id: 4, lot: '300', domain_id: 12, buy_now: 8000, vehicle_id: 11 }),
      lot({ lot_id: 5, lot: '300', domain_id: 12, buy_now: null, vehicle_id: 11 }),
    ];
    const vehicles = [...base.vehicles, { vehicle_id: 11 }];
    const duplicates = [pair(200, 100), pair(300, 100), pair(400, 100), pair(200, 999)];
    await computeReports(lake, { lots, vehicles, duplicates });
    const found = await texts(lake, 'select * from duplicate_lots order by duplicate_id, original_id');
    expect(
      found.map(
        (row) =>
          `${row.duplicate_id} ${row.duplicate_lot_id} ${row.duplicate_active} ${row.duplicate_asking}, ` +
          `${row.root_id} ${row.root_lot_id} ${row.root_active} ${row.root_asking}, ${row.is_same_vehicle}`,
      ),
    ).toEqual([
      '200 2 false null, 100 1 true 9000.5, true',
      '200 2 false null, 999 null null null, null',
      '300 5 true null, 100 1 true 9000.5, false',
      '400 null null null, 100 1 true 9000.5, null',
    ]);
  });
});
