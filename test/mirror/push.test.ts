import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSnapshot, planPush } from '../../src/beyond/mirror/push-snapshots.js';
import { temporaryFolder } from '../pipelines/support.js';
import { type MemoryStore, memoryStore } from './memory-store.js';
import { lakeOf, makeSnapshot, pushTo, readWhole } from './support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const texts = (night: number) => ({
  'domain_id=3/month=2026-10/data.parquet': 'unchanged',
  'domain_id=3/month=2026-11/data.parquet': `lots of night ${night}`,
});
const nights: readonly LocalSnapshot[] = [18, 19, 20].map((night) =>
  makeSnapshot(folder.path, `202611${night}T020000Z-00000a`, texts(night)),
);
const [first, second, third] = nights as [LocalSnapshot, LocalSnapshot, LocalSnapshot];
let store: MemoryStore;
beforeEach(() => {
  store = memoryStore();
  store.after = () => void readWhole(store);
});

/** The names and contents of all objects after a push, without times. */
const contentOf = ({ objects }: MemoryStore) =>
  new Map([...objects].map(([name, { body }]) => [name, body.toString()] as const).sort());

describe('a push', () => {
  it('stores files under names of their content, and switches when all are there', async () => {
    const pushed = await pushTo(store, lakeOf([first]));
    expect(pushed).toMatchObject({
      snapshot_id: '20261118T020000Z-00000a',
      pushed: ['20261118T020000Z-00000a'],
      files: 3,
    });
    expect(readWhole(store)).toMatchObject({
      'lots/domain_id=3/month=2026-11/data.parquet': 'lots of night 18',
      'warehouse.duckdb': 'views of 20261118T020000Z-00000a',
    });
    const names = store.sent.map((name) =>
      name.replace(/[0-9a-f]{64}/, '<sha>').replace(/probe-.+/, 'probe-<id>'),
    );
    expect(names).toEqual([
      'files/condition-probe-<id>',
      'tables/lots/domain_id=3/month=2026-10/<sha>.parquet',
      'tables/lots/domain_id=3/month=2026-11/<sha>.parquet',
      'files/<sha>',
      'tables/lots/metadata/m-20261118T020000Z-00000a.avro',
      'snapshots/20261118T020000Z-00000a.json',
      'files/<sha>',
      'current.json',
      'tables/lots/metadata/v1.metadata.json',
      'tables/lots/metadata/version-hint.text',
    ]);
  });

  it('sends only what is missing', async () => {
    await pushTo(store, lakeOf([first]));
    store.sent.length = 0;
    await pushTo(store, lakeOf([first, second]));
    expect(store.sent.filter((name) => name.endsWith('.parquet'))).toHaveLength(1);
    store.sent.length = 0;
    expect(await pushTo(store, lakeOf([first, second]))).toMatchObject({ pushed: [], files: 0, bytes: 0 });
    expect(store.sent).toEqual([]);
  });

  it('pushes every kept snapshot that is newer, oldest first', async () => {
    await pushTo(store, lakeOf([first]));
    expect((await pushTo(store, lakeOf(nights))).pushed).toEqual([
      '20261119T020000Z-00000a',
      '20261120T020000Z-00000a',
    ]);
    const current = JSON.parse(store.objects.get('current.json')?.body.toString() ?? '');
    expect(current).toMatchObject({
      snapshot_id: '20261120T020000Z-00000a',
      snapshots: [
        { snapshot_id: '20261118T020000Z-00000a' },
        { snapshot_id: '20261119T020000Z-00000a' },
        { snapshot_id: '20261120T020000Z-00000a' },
      ],
    });
  });

  it('skips an older snapshot that lacks a file, and refuses the current one', async () => {
    const torn = makeSnapshot(folder.path, '20261117T020000Z-00000a', texts(17));
    rmSync(join(torn.folder, 'lots', 'domain_id=3', 'month=2026-11'), { recursive: true });
    expect((await pushTo(store, lakeOf([torn, first]))).pushed).toEqual(['20261118T020000Z-00000a']);
    await expect(pushTo(memoryStore(), lakeOf([torn]))).rejects.toMatchObject({ code: 'LAKE_UNSOUND' });
  });
});

describe('a push that dies', () => {
  /** Number of calls of an uninterrupted push of two nights. */
  const callsOf = async (): Promise<number> => {
    let calls = 0;
    const counted = memoryStore();
    counted.before = () => void calls++;
    await pushTo(counted, lakeOf([first, second]));
    return calls;
  };

  it('at any call is repaired by the next one, and no file is sent twice', async () => {
    await pushTo(store, lakeOf([first, second]));
    const whole = contentOf(store);
    const calls = await callsOf();
    expect(calls).toBeGreaterThan(25);
    for (let last = 1; last < calls; last++) {
      const torn = memoryStore();
      torn.after = () => void readWhole(torn);
      let left = last;
      torn.before = () => {
        if (left-- === 0) throw new Error('killed');
      };
      await expect(pushTo(torn, lakeOf([first, second]))).rejects.toThrow('killed');
      torn.before = () => undefined;
      await pushTo(torn, lakeOf([first, second]));
      for (const name of torn.objects.keys())
        if (name.startsWith('files/condition-probe')) torn.objects.delete(name);
      expect(contentOf(torn), `killed after ${last} calls`).toEqual(whole);
      const files = torn.sent.filter((name) => name.endsWith('.parquet'));
      expect(new Set(files).size, `killed after ${last} calls`).toBe(files.length);
    }
  });
});

describe('two pushes at once', () => {
  it('have one winner, and the loser changes nothing of it', async () => {
    const other = makeSnapshot(folder.path, '20261119T020000Z-00000b', {
      'domain_id=3/month=2026-11/data.parquet': 'other',
    });
    await pushTo(store, lakeOf([first]));
    let won: Map<string, string> | undefined;
    store.before = async (call) => {
      if (call !== 'replace current.json') return;
      store.before = () => undefined;
      await pushTo(store, lakeOf([first, other]));
      won = contentOf(store);
    };
    const lost = pushTo(store, lakeOf([first, second]));
    await expect(lost).rejects.toMatchObject({ code: 'MIRROR_OVERTAKEN', outcome: 'locked' });
    expect(contentOf(store)).toEqual(won);
    expect(readWhole(store)?.['lots/domain_id=3/month=2026-11/data.parquet']).toBe('other');
    await expect(pushTo(store, lakeOf([first, second]))).rejects.toMatchObject({ code: 'MIRROR_AHEAD' });
  });

  it('have one winner, even between two snapshots of the loser', async () => {
    const other = makeSnapshot(folder.path, '20261120T020000Z-00000b', { 'a.parquet': 'other' });
    await pushTo(store, lakeOf([first]));
    let switches = 0;
    store.before = async (call) => {
      if (call !== 'replace current.json' || ++switches !== 2) return;
      store.before = () => undefined;
      await pushTo(store, lakeOf([first, second, other]));
    };
    await expect(pushTo(store, lakeOf(nights))).rejects.toMatchObject({ code: 'MIRROR_OVERTAKEN' });
    expect(readWhole(store)?.['lots/a.parquet']).toBe('other');
  });

  const hint = () => store.objects.get('tables/lots/metadata/version-hint.text')?.body.toString();

  it('leave the hints of the newer one, even if the older one paused before it wrote its own', async () => {
    await pushTo(store, lakeOf([first]));
    store.before = async (call) => {
      if (call !== 'replace tables/lots/metadata/v2.metadata.json') return;
      store.before = () => undefined;
      await pushTo(store, lakeOf(nights));
    };
    await pushTo(store, lakeOf([first, second]));
    expect(hint()).toBe('3');
  });

  it('that left an older hint are repaired by the next push', async () => {
    await pushTo(store, lakeOf([first, second]));
    await store.send('tables/lots/metadata/version-hint.text', '1');
    await pushTo(store, lakeOf([first, second]));
    expect(hint()).toBe('2');
  });

  it('of one snapshot leave the overtaken one nothing to push', async () => {
    await pushTo(store, lakeOf([first]));
    store.before = async (call) => {
      if (call !== 'replace current.json') return;
      store.before = () => undefined;
      store.now = new Date(store.now.getTime() + 1);
      await pushTo(store, lakeOf([first, second]));
    };
    await expect(pushTo(store, lakeOf([first, second]))).rejects.toMatchObject({ code: 'MIRROR_OVERTAKEN' });
    expect(await pushTo(store, lakeOf([first, second]))).toMatchObject({
      snapshot_id: '20261119T020000Z-00000a',
      pushed: [],
    });
  });
});

describe('a mirror', () => {
  const place = { place: 's3://bucket/lake', now: new Date('2026-11-20T02:00:00Z') };
  const mirror = (snapshotId: string, more: object = {}) => ({
    ...{ mirror_version: 2 as const, lotlake_version: '0', origin: 'service', snapshot_id: snapshotId },
    ...{ snapshots: [], heads: 'files/x', tables: {}, switched_at: '', vacuum_until: null, ...more },
  });

  it('accepts only a lake of its own service', () => {
    expect(() =>
      planPush(lakeOf(nights), mirror('20261118T020000Z-00000a', { origin: 'another' }), place),
    ).toThrow(/is the mirror of/);
    expect(planPush(lakeOf(nights), mirror('20261118T020000Z-00000a', { origin: null }), place)).toEqual([
      second,
      third,
    ]);
  });

  it('accepts only a lake that descends from its own', () => {
    for (const id of ['20261121T020000Z-00000a', '20261119T020000Z-00000b'])
      expect(() => planPush(lakeOf(nights), mirror(id), place)).toThrow(/was not made from/);
    expect(
      planPush(
        lakeOf([second, third], ['20261117T020000Z-00000a']),
        mirror('20261117T020000Z-00000a'),
        place,
      ),
    ).toEqual([second, third]);
    expect(planPush(lakeOf([second, third]), mirror('20261120T020000Z-00000a'), place)).toEqual([]);
  });

  it('accepts nothing while a vacuum removes objects', () => {
    const until = (time: string) => mirror('20261118T020000Z-00000a', { vacuum_until: time });
    expect(() => planPush(lakeOf(nights), until('2026-11-20T02:10:00Z'), place)).toThrow(/a vacuum removes/);
    expect(planPush(lakeOf(nights), until('2026-11-20T01:59:00Z'), place)).toEqual([second, third]);
  });

  it('is refused if the service ignores the conditions of writes', async () => {
    store.replace = async () => 'tag';
    await expect(pushTo(store, lakeOf([first]))).rejects.toMatchObject({ code: 'MIRROR_CONDITIONS' });
    expect([...store.objects.keys()]).toEqual([]);
  });

  it('is refused if the service knows only If-None-Match, on which no later switch relies', async () => {
    const { replace } = store;
    store.replace = (name, text, tag) =>
      replace(name, text, tag === undefined ? tag : store.objects.get(name)?.tag);
    await expect(pushTo(store, lakeOf([first]))).rejects.toMatchObject({
      ...{ code: 'MIRROR_CONDITIONS', message: expect.stringContaining('If-Match') },
    });
    expect([...store.objects.keys()]).toEqual([]);
  });

  it('is probed by two simultaneous first pushes, and neither is mistaken for a fault of the service', async () => {
    store.before = async (call) => {
      if (!call.startsWith('replace files/condition-probe')) return;
      store.before = () => undefined;
      await pushTo(store, lakeOf([first]));
      store.now = new Date(store.now.getTime() + 1);
    };
    await expect(pushTo(store, lakeOf([first]))).rejects.toMatchObject({ code: 'MIRROR_OVERTAKEN' });
  });

  it.each([['no gzip'], [gzipSync('no JSON')], [gzipSync('null')]])(
    'is damaged if its heads are',
    async (body) => {
      await pushTo(store, lakeOf([first]));
      await store.send(JSON.parse(String(store.objects.get('current.json')?.body)).heads, body);
      await expect(pushTo(store, lakeOf(nights))).rejects.toMatchObject({ code: 'MIRROR_DAMAGED' });
    },
  );

  it('of a later layout is not touched', async () => {
    store.after = () => undefined;
    await store.send('current.json', '{"mirror_version": 2}');
    await expect(pushTo(store, lakeOf([first]))).rejects.toMatchObject({ code: 'MIRROR_FORMAT' });
  });
});
