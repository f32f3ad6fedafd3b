import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { snapshotIdOf } from '../../src/beyond/iceberg/metadata.js';
import { headOf } from '../../src/beyond/mirror/heads.js';
import { readCurrent } from '../../src/beyond/mirror/mirror-layout.js';
import { describeAsIceberg } from '../../src/beyond/mirror/mirror-tables.js';
import type { LocalSnapshot } from '../../src/beyond/mirror/push-snapshots.js';
import { vacuumMirror } from '../../src/beyond/mirror/vacuum-mirror.js';
import { temporaryFolder } from '../pipelines/support.js';
import { type MemoryStore, memoryStore } from './memory-store.js';
import { makeNight, readMoment, readTable } from './parquet-lake.js';
import { lakeOf, pushTo } from './support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());
let connection: DuckDBConnection;
let places = 0;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create()).connect();
});
let store: MemoryStore;
const push = (kept: readonly LocalSnapshot[]) =>
  pushTo(store, lakeOf(kept), describeAsIceberg(connection, store, []));
const idOf = (night: number): string => `202611${night}T020000Z-00000a`;

/** Pushes nights with these tables, one after the other, the first on the 18th. */
async function pushNights(...contents: Parameters<typeof makeNight>[3][]): Promise<LocalSnapshot[]> {
  const output = `${folder.path}/${places++}`;
  const made: LocalSnapshot[] = [];
  for (const [i, each] of contents.entries()) {
    made.push(await makeNight(connection, output, 18 + i, each));
    store.now = new Date(`2026-11-${18 + i}T02:00:00Z`);
    store.sent.length = 0;
    await push(made);
  }
  return made;
}

/** Vacuums two days after the fourth night. */
function vacuum(keepSnapshots: number) {
  store.now = new Date('2026-11-23T02:00:00Z');
  const keep = { keepSnapshots, keepDays: 0 };
  return vacuumMirror({ store, keep, now: () => store.now, warn: () => undefined, isDryRun: false });
}

const states = async () => (await readCurrent(store))?.current.tables;
const atNight = (table: string, night: number) =>
  readTable(store, table, { snapshot: snapshotIdOf(idOf(night)) });
const headsOf = (table: string): string[] =>
  store.sent.filter((name) => name.startsWith(`tables/${table}/metadata/`));

beforeEach(() => {
  store = memoryStore();
});

it('keeps the key of a table whose file returns to its content of two snapshots ago', async () => {
  await pushNights({ open: [[1]] }, { open: [[2]] }, { open: [[1]] });
  const { schemas, 'current-schema-id': current } = JSON.parse(
    String(store.objects.get('tables/open/metadata/v3.metadata.json')?.body),
  );
  expect(schemas[current]).toHaveProperty('identifier-field-ids');
});

describe('a table that did not change', () => {
  const same = [[1, 2]];

  it('gets no metadata, and current.json says which night it has', async () => {
    await pushNights({ lots: [[1]], open: same }, { lots: [[2]], open: same }, { lots: [[3]], open: same });
    expect(headsOf('open')).toEqual([]);
    expect(headsOf('lots')).toHaveLength(4);
    expect(await states()).toMatchObject({
      lots: { version: 3, night: idOf(20) },
      open: { version: 1, night: idOf(18) },
    });
  });

  it('stays readable when the night that it is of is vacuumed', async () => {
    const made = await pushNights(...[1, 2, 3].map((lot) => ({ lots: [[lot]], open: same })), {
      lots: [[4]],
      open: [[5]],
    });
    await vacuum(2);
    expect(await readMoment(store)).toEqual(new Set([idOf(21)]));
    // The 20th has the rows of the 18th.
    const [object = ''] = (await atNight('open', 18))?.objects ?? [];
    expect(store.objects.has(object)).toBe(true);
    expect(await states()).toMatchObject({ open: { version: 2 }, lots: { version: 5 } });
    await vacuum(1);
    expect(store.objects.has(object)).toBe(false);
    expect(await push(made)).toMatchObject({ pushed: [], finished: 0 });
    expect(await readMoment(store)).toEqual(new Set([idOf(21)]));
  });

  it('costs three requests to see if the mirror has the snapshot', async () => {
    const made = await pushNights({ lots: [[1]], open: same }, { lots: [[2]], open: same });
    const before = { ...store.requests };
    await push(made);
    expect(store.requests).toEqual({ ...before, get: before.get + 2, list: before.list + 1 });
  });
});

describe('a table whose files all changed', () => {
  it('costs no request to read its metadata', async () => {
    const names = ['lots', 'open', 'mart_a', 'mart_b'];
    const contents = (lot: number) => Object.fromEntries(names.map((name) => [name, [[lot]]]));
    const made = await pushNights(contents(1), contents(2));
    made.push(await makeNight(connection, `${folder.path}/${places}`, 20, contents(3)));
    const before = store.requests.get;
    await push(made);
    // current.json twice, the heads and the record.
    expect(store.requests.get - before).toBe(4);
    expect(await readMoment(store)).toEqual(new Set([idOf(20)]));
  });
});

describe('a mart that a night lacks', () => {
  const lots = [[1]];

  it('ends at that night, and has its rows at the nights before', async () => {
    await pushNights({ lots, mart_a: [[1]] }, { lots }, { lots: [[2]] });
    expect(await readTable(store, 'mart_a')).toMatchObject({
      ...{ night: idOf(19), version: 2, objects: [], absentSince: idOf(19) },
    });
    expect((await atNight('mart_a', 18))?.objects).toHaveLength(1);
    const { snapshots } = JSON.parse(
      String(store.objects.get('tables/mart_a/metadata/v2.metadata.json')?.body),
    );
    expect(snapshots[1].summary).toMatchObject({ operation: 'delete', 'total-records': '0' });
  });

  it('goes on when it comes back, also with the rows of before', async () => {
    await pushNights({ lots, mart_a: [[1]] }, { lots }, { lots, mart_a: [[1]] });
    expect(await readTable(store, 'mart_a')).toMatchObject({ night: idOf(20), version: 3 });
    expect((await readTable(store, 'mart_a'))?.objects).toHaveLength(1);
  });

  it('goes with the last night that has rows of it, and continues its versions if it comes back', async () => {
    const made = await pushNights({ lots, mart_a: [[1]] }, { lots }, { lots }, { lots: [[2]] });
    await vacuum(3);
    await vacuum(1);
    expect(await states()).toMatchObject({ mart_a: { version: 2, night: null } });
    expect([...store.objects.keys()].filter((name) => headOf(name)?.table === 'mart_a')).toEqual([]);
    const back = await makeNight(connection, `${folder.path}/${places}`, 24, { lots, mart_a: [[1]] });
    await push([...made, back]);
    expect(await readTable(store, 'mart_a')).toMatchObject({ night: idOf(24), version: 3 });
    expect(await push([...made, back])).toMatchObject({ finished: 0 });
  });
});
