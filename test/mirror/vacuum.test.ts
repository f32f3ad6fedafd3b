import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { planCommit, type readPrevious } from '../../src/beyond/iceberg/commit-plan.js';
import { describeAsIceberg, retainHeads } from '../../src/beyond/mirror/mirror-tables.js';
import { planObjects, vacuumMirror } from '../../src/beyond/mirror/vacuum-mirror.js';
import { temporaryFolder } from '../pipelines/support.js';
import { contentOf, type MemoryStore, memoryStore } from './memory-store.js';
import { lakeOf, makeSnapshot, pushTo, readWhole } from './support.js';

const killed = vi.hoisted(() => ({ at: '' }));
vi.mock('../../src/base/config/kill-point.js', () => ({
  killPoint: (name: string) => {
    if (name === killed.at) throw new Error('killed');
  },
}));

const folder = temporaryFolder();
afterAll(() => folder.remove());
const nights = [17, 18, 19, 20].map((night) =>
  makeSnapshot(folder.path, `202611${night}T020000Z-00000a`, {
    'a.parquet': 'always',
    'b.parquet': `night ${night}`,
  }),
);

/** A snapshot whose table is a Parquet file with one lot. */
async function lotsOf(connection: DuckDBConnection, night: number) {
  const id = `202611${night}T020000Z-00000b`;
  const file = join(folder.path, 'lake', 'snapshots', id, 'open', 'data_0.parquet');
  mkdirSync(dirname(file), { recursive: true });
  await connection.run(`copy (select ${night}::bigint as lot_id) to '${file}' (field_ids {lot_id: 7})`);
  const open = {
    ...{
      columns: [{ name: 'lot_id', type: 'BIGINT', field_id: 7 }],
      key: ['lot_id'],
      partitioned: false,
      rows: 1,
    },
    ...{ bytes: 1, files: [{ path: 'open/data_0.parquet', rows: 1, ...contentOf(readFileSync(file)) }] },
  };
  return makeSnapshot(folder.path, id, {}, { tables: { open } });
}

let store: MemoryStore;
const day = (night: number): Date => new Date(`2026-11-${night}T02:00:00Z`);
const vacuum = (more: object = {}) =>
  vacuumMirror({
    ...{ store, keep: { keepSnapshots: 2, keepDays: 0 }, isDryRun: false },
    ...{ now: () => store.now, warn: () => undefined, ...more },
  });
const parquet = (): string[] => [...store.objects.keys()].filter((name) => name.endsWith('.parquet'));
const current = () => JSON.parse(store.objects.get('current.json')?.body.toString() ?? '');

/** Pushes each night at its time. The heads of the tables are left out; another test is about them. */
beforeEach(async () => {
  killed.at = '';
  store = memoryStore();
  for (const [i, night] of [17, 18, 19, 20].entries()) {
    store.now = day(night);
    await pushTo(store, lakeOf(nights.slice(0, i + 1)), async () => ({
      named: [],
      before: new Map(),
      heads: new Map(),
      contents: new Map(),
    }));
  }
  store.after = () => void readWhole(store);
});

describe('a vacuum of a mirror', () => {
  it('keeps the last snapshots and what they need, and removes the rest', async () => {
    store.now = day(22);
    const done = await vacuum();
    expect(done.snapshots.map(({ snapshot_id }) => snapshot_id)).toEqual([
      '20261117T020000Z-00000a',
      '20261118T020000Z-00000a',
    ]);
    expect(current()).toMatchObject({
      ...{ snapshot_id: '20261120T020000Z-00000a', vacuum_until: null },
      snapshots: [{ snapshot_id: '20261119T020000Z-00000a' }, { snapshot_id: '20261120T020000Z-00000a' }],
    });
    expect(parquet()).toHaveLength(3);
    expect(store.objects.has('snapshots/20261118T020000Z-00000a.json')).toBe(false);
    expect(done.objects).toBeGreaterThan(0);
    expect(await vacuum()).toMatchObject({ snapshots: [], objects: 0, kept: done.kept });
    expect((await pushTo(store, lakeOf(nights))).pushed).toEqual([]);
  });

  it('changes nothing in a dry run', async () => {
    store.now = day(22);
    const before = new Map(store.objects);
    const plan = await vacuum({ isDryRun: true });
    expect(store.objects).toEqual(before);
    expect(await vacuum()).toMatchObject({ snapshots: plan.snapshots });
  });

  it('counts in a dry run what it then removes, metadata of tables included', async () => {
    store = memoryStore();
    const connection = await (await DuckDBInstance.create()).connect();
    const made = [];
    for (const night of [17, 18, 19, 20]) {
      made.push(await lotsOf(connection, night));
      store.now = day(night);
      await pushTo(store, lakeOf(made), describeAsIceberg(connection, store, []));
    }
    store.now = day(22);
    const plan = await vacuum({ isDryRun: true });
    expect(plan.snapshots).toHaveLength(2);
    expect(await vacuum()).toEqual(plan);
    expect(plan.kept.objects).toBe(store.objects.size - 1);
    // Neither finds anything more to do.
    expect(await vacuum({ isDryRun: true })).toEqual(await vacuum());
  });

  it('removes what Spark computed from snapshots that are gone, and no other models', async () => {
    const of = (id: string): string => `models/${id}/sales/part-0.parquet`;
    const ids = ['20261117T020000Z-00000a', '20261120T020000Z-00000a', 'mine'];
    for (const id of ids) await store.send(of(id), 'rows');
    store.now = day(22);
    const plan = await vacuum({ isDryRun: true });
    expect(await vacuum()).toMatchObject({ objects: plan.objects, kept: plan.kept });
    expect(ids.filter((id) => store.objects.has(of(id)))).toEqual(ids.slice(1));
  });

  it('keeps unnamed objects for a day, because a push may be sending them', () => {
    const at = (hours: number) => ({ modified: new Date(day(20).getTime() - hours * 3_600_000) });
    const objects = new Map([
      ['named', at(100)],
      ['new', at(23)],
      ['old', at(25)],
    ]);
    expect(planObjects(objects, new Set(['named']), day(20))).toEqual(['old']);
  });

  it('ends a push under way that would rely on removed objects', async () => {
    store.now = day(22);
    const more = makeSnapshot(folder.path, '20261121T020000Z-00000a', {
      'a.parquet': 'always',
      'b.parquet': 'night 17',
    });
    let vacuumed: unknown;
    store.before = async (call) => {
      if (call !== 'send snapshots/20261121T020000Z-00000a.json') return;
      store.before = () => undefined;
      vacuumed = await vacuum();
    };
    await expect(pushTo(store, lakeOf([...nights, more]))).rejects.toMatchObject({
      code: 'MIRROR_OVERTAKEN',
    });
    expect(vacuumed).toMatchObject({ snapshots: [{}, {}] });
    await pushTo(store, lakeOf([...nights, more]));
    expect(readWhole(store)?.['lots/b.parquet']).toBe('night 17');
  });

  it('blocks pushes and other vacuums while it removes, and for a while after it died', async () => {
    store.now = day(22);
    store.before = (call) => {
      if (call.startsWith('remove')) throw new Error('killed');
    };
    await expect(vacuum()).rejects.toThrow('killed');
    store.before = () => undefined;
    await expect(vacuum()).rejects.toMatchObject({ code: 'MIRROR_BUSY', outcome: 'locked' });
    await expect(pushTo(store, lakeOf(nights))).rejects.toMatchObject({ code: 'MIRROR_BUSY' });
    store.now = new Date(day(22).getTime() + 1_200_001);
    await vacuum();
    expect(parquet()).toHaveLength(3);
  });

  it.each(['mirror.vacuum-switched', 'mirror.objects-removed', 'mirror.vacuumed'])(
    'is repeated after a kill at %s',
    async (at) => {
      store.now = day(22);
      killed.at = at;
      await expect(vacuum()).rejects.toThrow('killed');
      killed.at = '';
      store.now = new Date(day(22).getTime() + 1_200_001);
      await vacuum();
      expect(parquet()).toHaveLength(3);
      expect(current()).toMatchObject({ vacuum_until: null, snapshots: [{}, {}] });
    },
  );

  it('writes the heads that a push left when it died after its switch', async () => {
    store = memoryStore();
    await pushTo(store, lakeOf(nights.slice(0, 1)));
    killed.at = 'mirror.switched';
    await expect(pushTo(store, lakeOf(nights.slice(0, 2)))).rejects.toThrow('killed');
    killed.at = '';
    store.now = day(24);
    await vacuum();
    const folder = 'tables/lots/metadata';
    expect(store.objects.get(`${folder}/version-hint.text`)?.body.toString()).toBe('2');
    expect(store.objects.has(`${folder}/v2.metadata.json`)).toBe(true);
  });

  it('counts only what it removed if its time runs out', async () => {
    const old = await store.read('current.json');
    for (let i = 0; i < 1500 && old !== undefined; i++)
      store.objects.set(`files/old-${i}`, { ...old, modified: day(17) });
    store.now = day(22);
    store.before = (call) => {
      if (call.startsWith('remove')) store.now = new Date(day(22).getTime() + 1_000_000);
    };
    const { objects, kept } = await vacuum({ keep: { keepSnapshots: 4, keepDays: 0 } });
    expect(objects).toBe(1000);
    expect(kept.objects).toBe(store.objects.size - 1);
  });

  it('aborts a removal that runs out of time, and still blocks pushes until its time is over', async () => {
    store.now = day(22);
    store.before = (call) => {
      if (call === 'list snapshots/') store.now = new Date(day(22).getTime() + 899_990);
    };
    store.remove = (_, end) =>
      new Promise((_resolve, reject) => {
        end?.addEventListener('abort', () => reject(new Error('ended')));
      });
    await expect(vacuum()).rejects.toThrow('ended');
    await expect(pushTo(store, lakeOf(nights))).rejects.toMatchObject({ code: 'MIRROR_BUSY' });
  });
});

describe('the metadata of tables', () => {
  const table = { name: 'lots', key: ['lot_id'], partitioned: false, description: '', sort: ['lot_id'] };
  const columns = [{ name: 'lot_id', type: 'BIGINT', field_id: 1, description: undefined }];
  const location = 's3://bucket/lake/tables/lots';
  const commit = async (
    id: string,
    kept: readonly string[],
    previous?: Awaited<ReturnType<typeof readPrevious>>,
  ) => planCommit({ ...table, columns }, location, { id, time: Number(id), files: [] }, kept, previous);

  it('names only the kept snapshots, under the next version', async () => {
    const first = await commit('1', ['1']);
    const second = await commit('2', ['1', '2'], first);
    const heads = new Map(
      second.after.map(({ uri, content }) => [uri.slice('s3://bucket/lake/'.length), String(content)]),
    );
    const named = (files: typeof first.before) =>
      new Set(files.map(({ uri }) => uri.slice('s3://bucket/lake/'.length)));
    const retained = retainHeads(store, heads, named(second.before));
    expect([...retained.keys()]).toEqual([
      'tables/lots/metadata/v3.metadata.json',
      'tables/lots/metadata/version-hint.text',
    ]);
    const metadata = JSON.parse(retained.get('tables/lots/metadata/v3.metadata.json') ?? '');
    expect(metadata.snapshots).toEqual(second.metadata.snapshots.slice(1));
    expect(retainHeads(store, heads, new Set()).size).toBe(0);
    expect(retainHeads(store, heads, named([...first.before, ...second.before]))).toEqual(heads);
  });
});
