import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDatabase } from '../../src/ask/query/open-lake.js';
import {
  comparedTables,
  diffTable,
  type Side,
  sideOf,
  type TableDiff,
} from '../../src/ask/query/snapshot-diff.js';
import { checksumOf } from '../../src/core/lake/disk.js';
import { allFiles, type ManifestTable, readManifest, writeManifest } from '../../src/core/lake/manifest.js';
import { readModels } from '../../src/core/model/model-files.js';
import { runLotlake } from '../cli/support.js';
import { type HandMade, handMadeLake, SNAPSHOT } from './support.js';

const LOTS = (values: string): string =>
  `select lot_id::bigint as lot_id, part, bid::double as bid, tags, run_id, domain_id::bigint as domain_id, '2026-11' as month
   from (values ${values}) v(lot_id, part, bid, tags, run_id, domain_id)`;

/** Pairs of floating-point numbers, and whether they differ. */
const PAIRS: readonly (readonly [a: string, b: string, differs: boolean])[] = [
  ['0.1 + 0.2', '0.3', false],
  ['-1234.5', '-1234.5000001', false],
  ['1234.5', '1234.50001', true],
  ['2e5 / 3', '2e5 / 3 * (1 + 1e-12)', false],
  // A total of whole amounts that is larger by one.
  ['50000000000', '50000000001', true],
  ['0', '1e-30', true],
  ["'nan'", "'nan'", false],
  ["'nan'", '1.5', true],
  ["'inf'", "'inf'", false],
  ["'inf'", "'-inf'", true],
  ["'inf'", '1.5', true],
  ['null', '1.5', true],
  ['null', 'null', false],
];
const MEASURED = (side: 'a' | 'b'): string =>
  PAIRS.map(([a, b], i) => `select ${i}::bigint as lot_id, (${side === 'a' ? a : b})::double as value`).join(
    ' union all ',
  );

let before: HandMade;
let after: HandMade;
beforeAll(async () => {
  before = await keyed(
    {
      lots: LOTS(
        `(1, null, 10, ['a'], 'r1', 1), (2, 'x', 10, ['a'], 'r1', 1), (3, 'x', 10, ['a'], 'r1', 1), (9, 'x', 1, [], 'r1', 3)`,
      ),
      stamped: "select 1::bigint as lot_id, 'r1' as run_id",
      old: 'select 1::bigint as lot_id',
      retyped: "select 1::bigint as lot_id, 5::bigint as n, 'a' as left_behind, 7 as kept",
      rekeyed: "select 'one' as lot_id",
      measured: MEASURED('a'),
    },
    { sales: 'select 1::bigint as lot_id, 1 as price' },
  );
  after = await keyed(
    {
      lots: LOTS(
        `(1, null, null, ['a'], 'r2', 1), (2, 'x', 10, ['b'], 'r2', 1), (4, 'x', 10, ['a'], 'r2', 1), (9, 'x', 1, [], 'r1', 3)`,
      ),
      stamped: "select 1::bigint as lot_id, 'r2' as run_id",
      fresh: 'select 1::bigint as lot_id from range(2)',
      retyped: "select 1::bigint as lot_id, '5' as n, 'b' as arrived, 8 as kept",
      rekeyed: 'select 1::bigint as lot_id',
      measured: MEASURED('b'),
    },
    { sales: 'select 1::bigint as lot_id, 2 as price' },
  );
});
afterAll(() => {
  before.remove();
  after.remove();
});

const snapshotOf = ({ config }: HandMade): string => join(config.output, 'lake', 'snapshots', SNAPSHOT);

/** A lake whose tables have keys and whose files have checksums. */
async function keyed(...given: Parameters<typeof handMadeLake>): Promise<HandMade> {
  const lake = await handMadeLake(...given);
  const folder = snapshotOf(lake);
  const manifest = readManifest(folder);
  const describe = async (tables: Readonly<Record<string, ManifestTable>>) => {
    for (const [name, table] of Object.entries(tables)) {
      table.key.push(...(name === 'lots' ? ['lot_id', 'part'] : ['lot_id']));
      for (const file of table.files) file.sha256 = await checksumOf(join(folder, file.path));
    }
  };
  await describe(manifest.tables);
  await describe(manifest.marts);
  writeManifest(folder, manifest);
  return lake;
}

const compare = (from: string, to: string, limit = 0): Promise<Record<string, TableDiff>> =>
  withDatabase(before.config, undefined, async ({ session: { connection } }) => {
    const side = (given: string): Promise<Side> =>
      sideOf(connection, before.config, given, '/', readModels());
    const [a, b] = [await side(from), await side(to)];
    const found = comparedTables(a, b).map(async (name) => [
      name,
      await diffTable(connection, a, b, name, limit),
    ]);
    return Object.fromEntries(await Promise.all(found));
  });

describe('a diff of two snapshots', () => {
  it('counts rows by key, and the columns by which they changed', async () => {
    const { lots } = await compare('current', snapshotOf(after), 10);
    expect(lots).toMatchObject({
      ...{ state: 'changed', rows_before: 4, rows_after: 4, added: 1, removed: 1, changed: 2 },
      columns: [
        { name: 'bid', rows: 1 },
        { name: 'tags', rows: 1 },
      ],
    });
    expect(lots?.rows).toEqual([
      {
        change: 'changed',
        key: { lot_id: '1', part: null },
        columns: [{ name: 'bid', before: '10.0', after: null }],
      },
      {
        change: 'changed',
        key: { lot_id: '2', part: 'x' },
        columns: [{ name: 'tags', before: '[a]', after: '[b]' }],
      },
      { change: 'removed', key: { lot_id: '3', part: 'x' }, columns: [] },
      { change: 'added', key: { lot_id: '4', part: 'x' }, columns: [] },
    ]);
  });

  it('reports tables and columns that are new, gone or of another type', async () => {
    const { fresh, old, retyped, rekeyed, stamped } = await compare(SNAPSHOT, snapshotOf(after));
    expect(fresh).toMatchObject({ state: 'new', rows_before: null, rows_after: 2, added: null });
    expect(old).toMatchObject({ state: 'gone', rows_before: 1, rows_after: null });
    expect(retyped).toMatchObject({
      ...{ state: 'changed', changed: 1, columns: [{ name: 'kept', rows: 1 }] },
      schema: [
        { name: 'n', before: 'BIGINT', after: 'VARCHAR' },
        { name: 'left_behind', before: 'VARCHAR', after: null },
        { name: 'arrived', before: null, after: 'VARCHAR' },
      ],
    });
    expect(rekeyed).toMatchObject({ state: 'changed', changed: null });
    expect(stamped).toMatchObject({ state: 'same', changed: 0 });
  });

  it('takes floating-point numbers for the same if they differ by a billionth at most', async () => {
    const { measured } = await compare('current', snapshotOf(after), 100);
    const differing = PAIRS.flatMap(([, , differs], i) => (differs ? [String(i)] : []));
    expect(measured?.rows.map(({ key }) => key.lot_id)).toEqual(differing);
    expect(measured).toMatchObject({ changed: differing.length, columns: [{ name: 'value' }] });
  });

  it('reads no file that both snapshots share', async () => {
    const copy = join(before.folder, 'copy');
    cpSync(snapshotOf(before), copy, { recursive: true });
    for (const { path } of allFiles(readManifest(copy))) writeFileSync(join(copy, path), 'no Parquet');
    const same = await compare('current', copy);
    expect(Object.values(same).map(({ state }) => state)).toEqual(Array(7).fill('same'));
  });

  it('compares only the marts that lotlake model computed', async () => {
    const marts = join(before.folder, 'marts');
    cpSync(join(snapshotOf(after), 'sales'), join(marts, 'sales'), { recursive: true });
    const found = await compare('2026-11-21', marts);
    expect(Object.keys(found)).toEqual(['sales']);
    // The mart's key differs from the key of the hand-written table.
    expect(found.sales).toMatchObject({ state: 'changed', changed: null });
    await expect(compare('current', before.folder)).rejects.toThrow(
      /neither a snapshot nor a folder of marts/,
    );
    await expect(compare('nothing', 'current')).rejects.toThrow('there is no snapshot nothing');
  });
});

describe('lotlake diff', () => {
  it('shows tables, schema and rows', () => {
    const { output } = before.config;
    const { code, out, err } = runLotlake(output, 'diff', snapshotOf(after), '--rows', '1');
    expect(code, err).toBe(0);
    expect(out).toMatch(/lots +│ +4 │ +4 │ +1 │ +1 │ +2 │ bid 1, tags 1/);
    expect(out).toMatch(/retyped: the column arrived is gone/);
    expect(out).toMatch(/changed │ 1 +│ +│ bid +│ +│ 10\.0/);
    expect(out).toContain('1 table or mart is the same');
    expect(runLotlake(output, 'diff', 'current', '--table', 'nothing').code).toBe(2);
  });
});
