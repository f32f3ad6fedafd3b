import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { killPoint } from '../../base/config/kill-point.js';
import { makeFolder } from '../../base/config/owned.js';
import { assertLink } from '../../core/lake/broken-link.js';
import { checksumOf, syncFolders } from '../../core/lake/disk.js';
import { syncCopy } from '../../core/lake/files.js';
import { currentId, type Layout } from '../../core/lake/layout.js';
import { allFiles, type Manifest, manifestFrom, writeManifest } from '../../core/lake/manifest.js';
import { listSnapshots } from '../../core/lake/snapshots.js';
import { renewViews } from '../../core/lake/views.js';
import { switchCurrent } from '../../core/publish/snapshot.js';
import {
  type Current,
  damaged,
  existing,
  fetchWhole,
  type MirrorFile,
  readRecord,
  recordName,
  type SnapshotRecord,
  unusable,
} from './mirror-layout.js';
import { openMirrored } from './open.js';
import { forEach, type ObjectStore } from './store.js';

/**
 * Makes the mirror's current snapshot the current one of an output folder: fetches its files, compares each with its
 * checksum, makes its views anew, syncs everything, and switches last. Files from an earlier pull are not fetched again. The
 * caller holds the lock. Throws LotlakeError: MIRROR_NOT_FOUND if there is no mirror, MIRROR_LAKE if the folder has another
 * lake, MIRROR_DAMAGED if an object is missing or wrong.
 * @returns the snapshot, its folder, and the number and bytes of the files that were fetched
 */
export async function pull(
  connection: DuckDBConnection,
  layout: Layout,
  store: ObjectStore,
  warn: (message: string) => void,
) {
  const { mirror } = await openMirrored(store, { isWriter: false, warn });
  const { current } = existing(mirror, store);
  const { snapshot_id: id } = current;
  const folder = join(layout.snapshots, id);
  const done = { place: store.place, snapshot_id: id, path: folder };
  assertLink(layout);
  if (currentId(layout) === id) return { ...done, files: 0, bytes: 0 };
  assertReplaceable(layout, current, store);
  const record = await readRecord(store, id);
  assertSameFiles(record, store);
  const { manifest, files } = record;
  const bytes = (await forEach(store, files, (file) => fetchFile(folder, file, store))).flat();
  writeManifest(folder, manifest as Manifest);
  // The views of the mirror name the place where the snapshot was made.
  await renewViews(connection, folder);
  await syncCopy(folder);
  await syncFolders([layout.snapshots, layout.lake, layout.output]);
  store.signal.throwIfAborted();
  killPoint('mirror.pulled');
  switchCurrent(layout, folder);
  await syncFolders([layout.lake]);
  return { ...done, files: bytes.length, bytes: bytes.reduce((sum, size) => sum + size, 0) };
}

/**
 * Throws MIRROR_DAMAGED if the manifest names a file that the record lacks, because the next run links the files of the
 * manifest, and the errors of {@link manifestFrom}.
 */
function assertSameFiles({ snapshot_id, manifest, files }: SnapshotRecord, store: ObjectStore): void {
  const name = recordName(snapshot_id);
  const known = new Set(files.map(({ path }) => path));
  const other = allFiles(
    manifestFrom(manifest, `${store.place}/${name}`, 'nothing was fetched; push the snapshot again'),
  ).find(({ path }) => !known.has(path));
  if (other !== undefined) throw damaged(store, name, `names ${other.path}, which is none of its files`);
}

/**
 * Throws MIRROR_LAKE if a pull could lose data: there is a lake, and its published snapshot is not a snapshot of this
 * mirror.
 */
function assertReplaceable(layout: Layout, { snapshots }: Current, store: ObjectStore): void {
  const here = currentId(layout);
  const sealed = listSnapshots(layout).filter(({ isSealed }) => isSealed);
  const known = new Set(snapshots.map(({ snapshot_id }) => snapshot_id));
  // A pull that died before its switch may have left a sealed snapshot of the mirror.
  const other = (here === null ? sealed.map(({ id }) => id) : [here]).find((id) => !known.has(id));
  if (other === undefined) return;
  const message = `${layout.output} has snapshot ${other}, which ${store.place} does not know`;
  const hint = 'nothing was changed; name an empty folder with --output, or push what is here first';
  throw unusable('MIRROR_LAKE', message, hint);
}

/** Fetches a file, unless it is there with the right checksum. Returns the number of bytes, or nothing. */
async function fetchFile(folder: string, file: MirrorFile, store: ObjectStore): Promise<number[]> {
  const path = join(folder, file.path);
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === file.bytes && (await checksumOf(path)) === file.sha256) return [];
  makeFolder(dirname(path));
  await fetchWhole(store, file.object, path, file.sha256);
  killPoint('mirror.file-pulled');
  return [file.bytes];
}
