import { mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { killPoint } from '../config/kill-point.js';
import { filesBelow } from '../lake/files.js';
import { currentId, type Layout } from '../lake/layout.js';
import { allFiles, type Manifest, manifestFrom, writeManifest } from '../lake/manifest.js';
import { listSnapshots } from '../lake/snapshots.js';
import { renewViews } from '../lake/views.js';
import { checksumOf, foldersBelow, syncFiles, syncFolders } from '../land/files.js';
import { switchCurrent } from '../publish/publish.js';
import {
  type Current,
  damaged,
  type MirrorFile,
  readMirror,
  readRecord,
  recordName,
  type SnapshotRecord,
  unusable,
} from './layout.js';
import { forEach, type ObjectStore } from './store.js';

/**
 * Makes the mirror's current snapshot the current one of an output folder: fetches its files, compares each with its
 * checksum, makes its views anew, syncs all, and switches last. Files that an earlier pull has fetched are not fetched
 * again. The caller holds the lock. Throws LotlakeError: MIRROR_NOT_FOUND where there is no mirror, MIRROR_LAKE where the
 * folder has another lake, MIRROR_DAMAGED where an object is missing or wrong.
 * @returns the snapshot, its folder, and the number and bytes of the files that were fetched
 */
export async function pull(connection: DuckDBConnection, layout: Layout, store: ObjectStore) {
  const { current } = await readMirror(store);
  const { snapshot_id: id } = current;
  const folder = join(layout.snapshots, id);
  const done = { place: store.place, snapshot_id: id, path: folder };
  if (currentId(layout) === id) return { ...done, files: 0, bytes: 0 };
  assertReplaceable(layout, current, store);
  const record = await readRecord(store, id);
  assertSameFiles(record, store);
  const { manifest, files } = record;
  const bytes = (await forEach(store, files, (file) => fetchFile(folder, file, store))).flat();
  await sealPulled(connection, layout, folder, manifest);
  store.signal.throwIfAborted();
  killPoint('mirror.pulled');
  switchCurrent(layout, folder);
  await syncFolders([layout.lake]);
  return { ...done, files: bytes.length, bytes: bytes.reduce((sum, of) => sum + of, 0) };
}

/** Writes the manifest of a snapshot whose files are there, makes its views name this place, and syncs all of it. */
async function sealPulled(
  connection: DuckDBConnection,
  layout: Layout,
  folder: string,
  manifest: object,
): Promise<void> {
  writeManifest(folder, manifest as Manifest);
  await renewViews(connection, folder);
  await syncFiles(filesBelow(folder));
  await syncFolders([...foldersBelow(folder), folder, layout.snapshots, layout.lake, layout.output]);
}

/**
 * Throws MIRROR_DAMAGED where the manifest names a file that is none of the record's, because the next run
 * links what it names, and LAKE_FORMAT where only a later lotlake knows its format.
 */
function assertSameFiles({ snapshot_id, manifest, files }: SnapshotRecord, store: ObjectStore): void {
  const name = recordName(snapshot_id);
  const known = new Set(files.map(({ path }) => path));
  const other = allFiles(manifestFrom(manifest, `${store.place}/${name}`)).find(
    ({ path }) => !known.has(path),
  );
  if (other !== undefined) throw damaged(store, name, `names ${other.path}, which is none of its files`);
}

/**
 * Throws MIRROR_LAKE where a pull could lose something: a lake is there, and what it published last is not
 * an earlier snapshot of this mirror.
 */
function assertReplaceable(layout: Layout, { snapshots }: Current, store: ObjectStore): void {
  const here = currentId(layout);
  const sealed = listSnapshots(layout).filter(({ isSealed }) => isSealed);
  const known = new Set(snapshots.map(({ snapshot_id }) => snapshot_id));
  // A pull that died before its switch has left a sealed snapshot of the mirror.
  const other = (here === null ? sealed.map(({ id }) => id) : [here]).find((id) => !known.has(id));
  if (other === undefined) return;
  const found = `${layout.output} has snapshot ${other}, which ${store.place} does not know`;
  const hint = 'nothing was changed; name an empty folder with --output, or push what is here first';
  throw unusable('MIRROR_LAKE', found, hint);
}

/** Fetches a file, unless it is there and right. Returns the bytes that were fetched, if any. */
async function fetchFile(folder: string, file: MirrorFile, store: ObjectStore): Promise<number[]> {
  const path = join(folder, file.path);
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === file.bytes && (await checksumOf(path)) === file.sha256) return [];
  mkdirSync(dirname(path), { recursive: true });
  const found = await store.fetch(file.object, path);
  if (found === undefined) throw damaged(store, file.object, 'is missing');
  if (found !== file.sha256) {
    rmSync(path);
    const other = `has checksum ${found}, and ${file.path} of the snapshot is another file`;
    throw damaged(store, file.object, other);
  }
  killPoint('mirror.file-pulled');
  return [file.bytes];
}
