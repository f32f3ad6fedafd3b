import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTemporarySession, type TemporarySession } from '../../src/base/duck/session.js';
import { describeSnapshot, syncSnapshot } from '../../src/core/lake/describe.js';
import { type Layout, layoutOf } from '../../src/core/lake/layout.js';
import { type Manifest, type ManifestTable, readManifest } from '../../src/core/lake/manifest.js';
import type { TableSchema } from '../../src/core/lake/schema.js';
import { systemTables } from '../../src/core/lake/tables.js';
import { sealSnapshot, switchCurrent } from '../../src/core/publish/snapshot.js';
import { schemasOf } from '../load/support.js';
import { temporaryFolder } from '../pipelines/support.js';

const ONE = '20261120T020000Z-000001';
const TWO = '20261121T020000Z-000002';
const PASS = '20261120T020000Z-00000a';

let opened: TemporarySession;
/** The lake of these tests has one table of the feed. */
let schemas: ReadonlyMap<string, TableSchema>;
beforeAll(async () => {
  opened = await openTemporarySession({ memory: '500MB', threads: 1 });
  schemas = new Map((await schemasOf('titles')).map((schema) => [schema.table.name, schema]));
});
afterAll(() => opened.close());

let folder: ReturnType<typeof temporaryFolder>;
let layout: Layout;
beforeEach(() => {
  folder = temporaryFolder();
  layout = layoutOf(folder.path);
});
afterEach(() => folder.remove());

type Columns = readonly { readonly name: string; readonly type: string }[];

/** Writes a file of a table with so many rows of nulls. */
async function write(snapshot: string, table: string, columns: Columns, rows: number): Promise<void> {
  mkdirSync(join(snapshot, table), { recursive: true });
  const select = columns.map(({ name, type }) => `cast(null as ${type}) as "${name}"`).join(', ');
  const path = join(snapshot, table, 'data_0.parquet');
  await opened.session.connection.run(`copy (select ${select} from range(${rows})) to '${path}'`);
}

/** Writes the files of a snapshot: two titles, lotlake's own tables, and a mart of three rows. */
async function snapshotOf(name: string): Promise<string> {
  const snapshot = join(layout.snapshots, name);
  for (const { table, columns } of schemas.values()) await write(snapshot, table.name, columns, 2);
  for (const table of systemTables) await write(snapshot, table.name, table.columns, 1);
  await write(snapshot, 'a_mart', [{ name: 'id', type: 'BIGINT' }], 3);
  return snapshot;
}

const facts = {
  ...{
    snapshot_id: ONE,
    run_id: ONE,
    sequence: 1,
    pipeline: 'nightly',
    created_at: '2026-11-20T02:00:00.000Z',
  },
  ...{ last_pass_at: {}, pass_ids: [PASS], origin: 'test', fingerprints: null },
};
const marts = [{ name: 'a_mart', key: ['id'] }];
/** What is sealed below a manifest with other facts. */
async function sealWith(snapshot: string, more: Partial<Manifest>) {
  const described = await describeSnapshot(opened.session.connection, snapshot, schemas, marts);
  await sealSnapshot(snapshot, { ...facts, ...described, ...more }, undefined);
}

async function seal(snapshot: string, base?: { readonly folder: string; readonly manifest: Manifest }) {
  const described = await describeSnapshot(opened.session.connection, snapshot, schemas, marts);
  const manifest: Manifest = { ...facts, ...described };
  await sealSnapshot(snapshot, manifest, base);
  return manifest;
}

const TITLES = 'titles/data_0.parquet';

describe('the seal of a snapshot', () => {
  it('is a manifest with the rows, bytes and checksum of each file', async () => {
    const snapshot = await snapshotOf(ONE);
    const manifest = await seal(snapshot);
    expect(readManifest(snapshot)).toEqual(manifest);
    expect(manifest).toMatchObject({ snapshot_id: ONE, pass_ids: [PASS], origin: 'test' });
    expect(Object.keys(manifest.tables)).toEqual(['titles', ...systemTables.map(({ name }) => name)]);
    const bytes = readFileSync(join(snapshot, TITLES));
    expect(manifest.tables.titles).toMatchObject({
      ...{ key: ['title_id'], partitioned: false, rows: 2, bytes: bytes.length },
      files: [
        {
          ...{ path: TITLES, rows: 2, bytes: bytes.length },
          sha256: createHash('sha256').update(bytes).digest('hex'),
        },
      ],
    });
    expect(manifest.marts).toMatchObject({
      a_mart: { rows: 3, key: ['id'], columns: [{ name: 'id', type: 'BIGINT' }] },
    });
  });

  it('links a file that is as in the snapshot before but for the name of its snapshot', async () => {
    const names = (snapshot: string, id: string, rows: number): Promise<unknown> => {
      const path = join(snapshot, 'a_mart', 'data_0.parquet');
      rmSync(path);
      const options = `kv_metadata {'table': 'a_mart', 'snapshot': '${id}'}`;
      return opened.session.connection.run(`copy (from range(${rows})) to '${path}' (${options})`);
    };
    const [one, two] = [await snapshotOf(ONE), await snapshotOf(TWO)];
    await names(one, ONE, 3);
    const base = { folder: one, manifest: await seal(one) };
    await names(two, TWO, 3);
    const mart = (snapshot: string) => statSync(join(snapshot, 'a_mart', 'data_0.parquet')).ino;
    const sealed = await seal(two, base);
    expect(mart(two)).toBe(mart(one));
    expect(sealed.marts.a_mart?.files).toEqual(base.manifest.marts.a_mart?.files);
    await names(two, TWO, 4);
    await seal(two, base);
    expect(mart(two)).not.toBe(mart(one));
  });

  it('takes the checksum of a file that it links from the snapshot before', async () => {
    const before = await snapshotOf('zero');
    const sealed = await seal(before);
    const snapshot = await snapshotOf(ONE);
    rmSync(join(snapshot, TITLES));
    linkSync(join(before, TITLES), join(snapshot, TITLES));
    const { titles } = sealed.tables;
    const sha256 = '0'.repeat(64);
    const noted = titles && { ...titles, files: titles.files.map((file) => ({ ...file, sha256 })) };
    const base = {
      folder: before,
      manifest: { ...sealed, tables: noted === undefined ? {} : { titles: noted } },
    };
    const { tables } = await seal(snapshot, base);
    expect(tables.titles?.files).toMatchObject([{ sha256 }]);
    expect(tables.runs?.files).toMatchObject([{ sha256: expect.stringMatching(/^[\da-f]{64}$/) }]);
  });

  it('is refused if a table has no file, and writes nothing', async () => {
    const snapshot = await snapshotOf(ONE);
    rmSync(join(snapshot, 'titles'), { recursive: true });
    const refused = { code: 'PUBLISH_FAILED', message: 'the snapshot has no file of titles' };
    await expect(seal(snapshot)).rejects.toMatchObject(refused);
    expect(existsSync(join(snapshot, 'manifest.json'))).toBe(false);
  });

  it('is refused if the manifest cannot be written', async () => {
    const snapshot = await snapshotOf(ONE);
    mkdirSync(join(snapshot, 'manifest.json'));
    await expect(seal(snapshot)).rejects.toMatchObject({
      ...{ code: 'PUBLISH_FAILED', hint: expect.stringContaining('the last snapshot stays current') },
      message: expect.stringMatching(/^the manifest of .* cannot be written: /),
    });
  });
});

describe('a manifest that its readers refuse', () => {
  const mart = (columns: ManifestTable['columns']) => ({
    columns: [...columns],
    key: ['id'],
    partitioned: false,
    rows: 0,
    bytes: 0,
    files: [],
  });
  it.each<[string, Partial<Manifest>]>([
    [
      'a name of a column',
      { marts: { a_mart: mart([{ name: 'count_star()', type: 'BIGINT', field_id: 1 }]) } },
    ],
    ['a long name', { marts: { a_mart: mart([{ name: 'n'.repeat(64), type: 'BIGINT', field_id: 1 }]) } }],
    ['a long type', { marts: { a_mart: mart([{ name: 'id', type: 'S'.repeat(1001), field_id: 1 }]) } }],
    ['a model of the user', { own: { models: [{ name: 'x' }], checks: [], left_out: [] } }],
    ['a line end in a name', { own: { models: [], checks: [], left_out: [{ name: 'a\nb', reason: '' }] } }],
  ])('is not sealed because of %s', async (_, more) => {
    const snapshot = await snapshotOf(ONE);
    await expect(sealWith(snapshot, more)).rejects.toMatchObject({
      ...{ code: 'PUBLISH_FAILED', hint: expect.stringContaining('the last snapshot stays current') },
      message: expect.stringMatching(/^the manifest of .* cannot be read back: /),
    });
  });
});

describe('the description of a state between two nights of a rebuild', () => {
  it('needs neither marts nor the runs, and has no checksums', async () => {
    const state = await snapshotOf('state');
    for (const name of ['runs', 'a_mart']) rmSync(join(state, name), { recursive: true });
    const own = systemTables.filter(({ name }) => name !== 'runs');
    const { tables, marts } = await describeSnapshot(opened.session.connection, state, schemas, [], { own });
    expect(marts).toEqual({});
    expect(tables.runs).toBeUndefined();
    expect(tables.titles?.files.map(({ sha256 }) => sha256)).toEqual([undefined]);
    expect(existsSync(join(state, 'manifest.json'))).toBe(false);
  });
});

/** Makes the folder of a snapshot with a manifest but no table. */
function emptySnapshot(name: string): string {
  const snapshot = join(layout.snapshots, name);
  mkdirSync(snapshot, { recursive: true });
  writeFileSync(join(snapshot, 'manifest.json'), '{}');
  return snapshot;
}

describe('the link to the current snapshot', () => {
  const current = () => readlinkSync(layout.current);

  it('is made, and switched to a later snapshot', () => {
    switchCurrent(layout, emptySnapshot(ONE));
    expect(current()).toBe(join('snapshots', ONE));
    switchCurrent(layout, emptySnapshot(TWO));
    expect(current()).toBe(join('snapshots', TWO));
    expect(readdirSync(layout.lake).sort()).toEqual(['current', 'snapshots']);
  });

  it('is not switched to a snapshot without a manifest', () => {
    switchCurrent(layout, emptySnapshot(ONE));
    const unsealed = emptySnapshot(TWO);
    rmSync(join(unsealed, 'manifest.json'));
    expect(() => switchCurrent(layout, unsealed)).toThrow(/has no manifest and is not published/);
    expect(current()).toBe(join('snapshots', ONE));
  });

  it('leaves nothing beside it if its path is a folder', () => {
    mkdirSync(join(layout.current, 'of a copy'), { recursive: true });
    expect(() => switchCurrent(layout, emptySnapshot(ONE))).toThrow(
      /cannot be switched to 20261120T020000Z-000001: /,
    );
    expect(readdirSync(layout.lake).sort()).toEqual(['current', 'snapshots']);
  });
});

describe('the sync of a snapshot', () => {
  it('waits for its own files and folders, once, and for none that it links', async () => {
    const before = emptySnapshot('zero');
    const snapshot = emptySnapshot(ONE);
    for (const table of ['linked', 'own', 'later']) mkdirSync(join(snapshot, table));
    mkdirSync(join(before, 'linked'));
    writeFileSync(join(before, 'linked', 'a.parquet'), 'a');
    linkSync(join(before, 'linked', 'a.parquet'), join(snapshot, 'linked', 'a.parquet'));
    writeFileSync(join(snapshot, 'own', 'b.parquet'), 'b');
    const inSnapshot = (...paths: string[]) => paths.map((path) => join(snapshot, path));
    const synced = await syncSnapshot(snapshot, before);
    expect([...synced].sort()).toEqual(
      inSnapshot('later', 'linked', 'manifest.json', 'own', 'own/b.parquet'),
    );
    writeFileSync(join(snapshot, 'later', 'c.parquet'), 'c');
    // A file that was synced before is not opened again. This one could not be opened.
    rmSync(join(snapshot, 'own', 'b.parquet'));
    symlinkSync('nowhere', join(snapshot, 'own', 'b.parquet'));
    const all = await syncSnapshot(snapshot, before, synced);
    expect([...all].sort()).toEqual([...synced, ...inSnapshot('later/c.parquet')].sort());
  });

  it('fails if a file cannot be opened', async () => {
    const snapshot = emptySnapshot(ONE);
    symlinkSync('nowhere', join(snapshot, 'a.parquet'));
    await expect(syncSnapshot(snapshot, undefined)).rejects.toMatchObject({
      ...{ code: 'PUBLISH_FAILED', hint: expect.stringContaining('the last snapshot stays current') },
      message: expect.stringMatching(/^.*-000001 cannot be synced: /),
    });
  });
});
