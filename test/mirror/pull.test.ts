import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { withDatabase } from '../../src/ask/query/open-lake.js';
import { pullLanding, pushLanding } from '../../src/beyond/mirror/landing.js';
import { pull } from '../../src/beyond/mirror/pull-snapshot.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { endPass, openPass, readPass, recordPage } from '../../src/core/lake/passes/pass.js';
import { switchCurrent } from '../../src/core/publish/snapshot.js';
import { landedPage } from '../land/ledger.js';
import { temporaryFolder } from '../pipelines/support.js';
import { type MemoryStore, memoryStore } from './memory-store.js';
import { lakeOf, makeSnapshot, pushTo } from './support.js';

const killed = vi.hoisted(() => ({ at: '' }));
vi.mock('../../src/base/config/kill-point.js', () => ({
  killPoint: (name: string) => {
    if (name === killed.at) throw new Error('killed');
  },
}));

const folder = temporaryFolder();
afterAll(() => folder.remove());
const local = layoutOf(join(folder.path, 'local'));
const nights = [19, 20].map((night) =>
  makeSnapshot(local.output, `202611${night}T020000Z-00000a`, {
    'domain_id=3/data.parquet': `night ${night}`,
  }),
);
let store: MemoryStore;
let places = 0;
const warn = vi.fn();
beforeEach(async () => {
  killed.at = '';
  store = memoryStore();
  await withDatabase({ memory: '700MB', threads: 1 }, undefined, async ({ session: { connection } }) => {
    for (const { folder: snapshot } of nights) {
      rmSync(join(snapshot, 'warehouse.duckdb'));
      await connection.run(`attach '${join(snapshot, 'warehouse.duckdb')}' as made`);
      await connection.run('detach made');
    }
  });
  await pushTo(store, lakeOf(nights));
});
const emptyPlace = () => layoutOf(join(folder.path, `pulled-${places++}`));
const pullTo = (layout: ReturnType<typeof layoutOf>) =>
  withDatabase({ memory: '700MB', threads: 1 }, undefined, ({ session }) => {
    mkdirSync(layout.output, { recursive: true });
    return pull(session.connection, layout, store, warn);
  });
const fileOf = (layout: ReturnType<typeof layoutOf>) =>
  join(layout.current, 'lots', 'domain_id=3', 'data.parquet');

describe('a pull', () => {
  it('fills an empty folder with the current snapshot, whose files are where its manifest says', async () => {
    const layout = emptyPlace();
    expect(await pullTo(layout)).toMatchObject({ snapshot_id: '20261120T020000Z-00000a', files: 2 });
    expect(readFileSync(fileOf(layout), 'utf8')).toBe('night 20');
    const manifest = (output: string) =>
      readFileSync(join(output, 'lake/snapshots/20261120T020000Z-00000a/manifest.json'), 'utf8');
    expect(manifest(layout.output)).toBe(manifest(local.output));
    expect(await pullTo(layout)).toMatchObject({ snapshot_id: '20261120T020000Z-00000a', files: 0 });
  });

  it('updates a lake that it made, and refuses a lake that the mirror does not know', async () => {
    const layout = emptyPlace();
    const older = makeSnapshot(layout.output, '20261119T020000Z-00000a', { 'a.parquet': 'night 19' });
    switchCurrent(layout, older.folder);
    expect(await pullTo(layout)).toMatchObject({ snapshot_id: '20261120T020000Z-00000a' });
    const other = emptyPlace();
    switchCurrent(
      other,
      makeSnapshot(other.output, '20261118T020000Z-00000b', { 'a.parquet': 'another' }).folder,
    );
    await expect(pullTo(other)).rejects.toMatchObject({ code: 'MIRROR_LAKE', outcome: 'usage' });
    rmSync(other.current);
    await expect(pullTo(other)).rejects.toMatchObject({ code: 'MIRROR_LAKE' });
  });

  it('continues with the files that are already there and correct', async () => {
    const layout = emptyPlace();
    store.before = (call) => {
      if (call.startsWith('fetch files/')) throw new Error('killed');
    };
    await expect(pullTo(layout)).rejects.toThrow('killed');
    expect(existsSync(layout.current)).toBe(false);
    store.before = () => undefined;
    expect(await pullTo(layout)).toMatchObject({ files: 1 });
  });

  it.each(['mirror.file-pulled', 'mirror.pulled'])('is repeated after a kill at %s', async (at) => {
    const layout = emptyPlace();
    killed.at = at;
    await expect(pullTo(layout)).rejects.toThrow('killed');
    expect(existsSync(layout.current)).toBe(false);
    killed.at = '';
    expect(await pullTo(layout)).toMatchObject({ snapshot_id: '20261120T020000Z-00000a' });
    expect(readFileSync(fileOf(layout), 'utf8')).toBe('night 20');
  });

  it('never switches to a damaged or missing file', async () => {
    const name = [...store.objects.keys()].findLast((each) => each.endsWith('.parquet')) ?? '';
    const layout = emptyPlace();
    await store.send(name, 'another');
    await expect(pullTo(layout)).rejects.toMatchObject({ code: 'MIRROR_DAMAGED', outcome: 'held' });
    store.objects.delete(name);
    await expect(pullTo(layout)).rejects.toMatchObject({ code: 'MIRROR_DAMAGED' });
    expect(existsSync(layout.current)).toBe(false);
    expect(existsSync(join(layout.snapshots, '20261120T020000Z-00000a', 'manifest.json'))).toBe(false);
  });

  it.each(['../out', '/out', 'a/../../out', 'a\\b', 'a\n/../../out', 'a\u2028/../../out', 'a\u001b'])(
    'writes nowhere but in its snapshot: %s',
    async (path) => {
      const name = 'snapshots/20261120T020000Z-00000a.json';
      const record = JSON.parse(gunzipSync(store.objects.get(name)?.body ?? '').toString());
      record.files[0].path = path;
      await store.send(name, JSON.stringify(record));
      await expect(pullTo(emptyPlace())).rejects.toMatchObject({ code: 'MIRROR_FORMAT' });
    },
  );

  it('refuses a manifest that names a file which the record lacks', async () => {
    const name = 'snapshots/20261120T020000Z-00000a.json';
    const record = JSON.parse(gunzipSync(store.objects.get(name)?.body ?? '').toString());
    const layout = emptyPlace();
    for (const [path, code] of [
      ['../../../../private', 'LAKE_MANIFEST'],
      ['lots/private.parquet', 'MIRROR_DAMAGED'],
    ]) {
      record.manifest.tables.lots.files[0].path = path;
      await store.send(name, JSON.stringify(record));
      await expect(pullTo(layout)).rejects.toMatchObject({ code });
    }
    expect(existsSync(layout.snapshots)).toBe(false);
  });

  it('needs a mirror', async () => {
    store = memoryStore();
    await expect(pullTo(emptyPlace())).rejects.toMatchObject({ code: 'MIRROR_NOT_FOUND' });
  });
});

describe('landing', () => {
  const request = {
    stream: 'cars',
    run_id: '20261120T020000Z-0000ff',
    sequence: 1,
    origin: null,
    kind: 'full',
    request: {},
    contract: '',
  } as const;
  const land = (landing: string, text: string, isSealed: boolean) => {
    const pass = openPass(landing, request, new Date());
    writeFileSync(join(pass.folder, 'page-000001.ndjson.gz'), text);
    recordPage(pass.folder, landedPage({ fileBytes: text.length, sha256: hash('sha256', text) }));
    const end = { reason: null, complete: true, total: null, run_id: '20261120T020000Z-0000ff' };
    if (isSealed) endPass(readPass(pass.folder), { state: 'sealed', ...end }, new Date());
    return pass;
  };

  it('is pushed once per sealed pass, and pulled', async () => {
    const [sealed] = [land(local.landing, 'page', true), land(local.landing, 'open', false)];
    expect(await pushLanding(local.landing, store)).toMatchObject({ passes: 1, files: 3 });
    expect(await pushLanding(local.landing, store)).toMatchObject({ passes: 0, files: 0 });
    const { landing } = emptyPlace();
    expect(await pullLanding(landing, store)).toMatchObject({ passes: 1, files: 3 });
    expect(readPass(join(landing, 'cars', sealed.record.pass_id)).pages).toHaveLength(1);
    expect(await pullLanding(landing, store)).toMatchObject({ passes: 0, files: 0 });
  });

  it('is sent again after a killed push', async () => {
    const { landing } = emptyPlace();
    land(landing, 'page', true);
    killed.at = 'mirror.page-sent';
    await expect(pushLanding(landing, store)).rejects.toThrow('killed');
    expect(await pullLanding(emptyPlace().landing, store)).toMatchObject({ passes: 0 });
    killed.at = '';
    expect(await pushLanding(landing, store)).toMatchObject({ passes: 1, files: 3 });
  });

  it('is fetched again if a pull died while it wrote pass.json', async () => {
    const { landing } = emptyPlace();
    const { record } = land(landing, 'page', true);
    await pushLanding(landing, store);
    const pulled = emptyPlace().landing;
    const { fetch } = store;
    store.fetch = async (name, path) => {
      if (!name.endsWith('pass.json')) return fetch(name, path);
      writeFileSync(path, '{"pass_id"');
      throw new Error('killed');
    };
    await expect(pullLanding(pulled, store)).rejects.toThrow('killed');
    store.fetch = fetch;
    expect(await pullLanding(pulled, store)).toMatchObject({ passes: 1, files: 3 });
    expect(readPass(join(pulled, 'cars', record.pass_id)).pages).toHaveLength(1);
  });

  it('is sent again if a pass was marked as published since', async () => {
    const { landing } = emptyPlace();
    const { folder: pass } = land(landing, 'page', true);
    await pushLanding(landing, store);
    writeFileSync(
      join(pass, 'pass.json'),
      readFileSync(join(pass, 'pass.json'), 'utf8').replace('"published": false', '"published": true'),
    );
    expect(await pushLanding(landing, store)).toMatchObject({ passes: 1, files: 1 });
  });
});
