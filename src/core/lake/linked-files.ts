/** What a snapshot shares with the one before: hard links to its files. */
import { lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { codeOf } from '../../base/config/lotlake-error.js';
import { copyNew, makeFolder, makeHardLink, remove } from '../../base/config/owned.js';
import { literals, rows } from '../../base/duck/session.js';
import { checksumOf } from './disk.js';
import { type FileSize, fileSizes, filesBelow } from './files.js';
import { allFiles, type LakeFile, type Manifest } from './manifest.js';

/**
 * Parquet files below folders of a snapshot, with the row counts that their footers give, or the manifest of the snapshot
 * before for files that are hard links to its files.
 */
export async function listFiles(
  connection: DuckDBConnection,
  snapshot: string,
  base: { readonly folder: string; readonly manifest: Manifest } | undefined,
  names: readonly string[],
): Promise<LakeFile[]> {
  const files = names.flatMap((name) => fileSizes(snapshot, name));
  const earlier = new Map(
    base === undefined ? [] : allFiles(base.manifest).map((file) => [file.path, file.rows]),
  );
  const known = new Map<string, number>();
  const fresh: string[] = [];
  for (const { path } of files) {
    const file = join(snapshot, path);
    const linked = isLinked(snapshot, base?.folder, file) ? earlier.get(path) : undefined;
    if (linked === undefined) fresh.push(file);
    else known.set(file, linked);
  }
  if (fresh.length > 0) {
    const found = await rows(
      connection,
      `select file_name, num_rows from parquet_file_metadata(${literals(fresh)})`,
    );
    for (const { file_name, num_rows } of found) known.set(String(file_name), Number(num_rows));
  }
  return files.map((file) => ({ ...file, rows: known.get(join(snapshot, file.path)) ?? 0 }));
}

const NO_LINKS: ReadonlySet<unknown> = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EMLINK']);

/** Hard-links a file into another snapshot, or copies it if the file system has no hard links. */
export function linkFile(from: string, to: string): void {
  makeFolder(dirname(to));
  try {
    makeHardLink(from, to);
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error))) throw error;
    copyNew(from, to);
  }
}

/** Whether a file of a snapshot is a hard link to the file of the same name in another snapshot. */
function isLinked(snapshot: string, before: string | undefined, path: string): boolean {
  if (before === undefined) return false;
  const [file, other] = [path, join(before, relative(snapshot, path))].map((name) =>
    lstatSync(name, { throwIfNoEntry: false }),
  );
  return file !== undefined && file.dev === other?.dev && file.ino === other.ino;
}

/** Files of a snapshot folder that are not hard links to files of another. */
export function ownFiles(snapshot: string, before: string | undefined): string[] {
  return filesBelow(snapshot).filter((file) => !isLinked(snapshot, before, file));
}

/** Files of a snapshot by whether they are new or shared with the snapshot before: numbers and bytes. */
export type FileUse = Readonly<Record<`${'written' | 'linked'}${'Files' | 'Bytes'}`, number>>;

/** Counts the files of a snapshot, or of one of its tables, that its run wrote, and those that are hard links to the snapshot before. */
export function compareFiles(snapshot: string, before: string | undefined): FileUse {
  const use = { writtenFiles: 0, writtenBytes: 0, linkedFiles: 0, linkedBytes: 0 };
  for (const file of filesBelow(snapshot)) {
    const kind = isLinked(snapshot, before, file) ? 'linked' : 'written';
    use[`${kind}Files` as const]++;
    use[`${kind}Bytes` as const] += lstatSync(file).size;
  }
  return use;
}

/** Whether two files are the same but for the ids of the snapshots that they were written for. */
function isSameButId(path: string, id: string, earlier: string): boolean {
  const [found, before] = [readFileSync(path), readFileSync(earlier)];
  const at = found.lastIndexOf(id);
  if (at < 0 || found.length !== before.length) return false;
  const end = at + id.length;
  return (
    found.subarray(0, at).equals(before.subarray(0, at)) && found.subarray(end).equals(before.subarray(end))
  );
}

/** Larger files, which are held in memory to be compared, are hardly ever the same in two nights. */
const MOST_COMPARED = 16 << 20;

/**
 * Replaces files that a run wrote as they were in the snapshot before, such as marts of seeds, by hard links to those. Every
 * file names its snapshot in its footer, so two of them are never the same otherwise.
 */
export function linkUnchanged(
  snapshot: string,
  files: readonly FileSize[],
  base: { readonly folder: string; readonly manifest: Manifest },
): void {
  const sizes = new Map(allFiles(base.manifest).map(({ path, bytes }) => [path, bytes]));
  for (const { path, bytes } of files) {
    const [file, earlier] = [join(snapshot, path), join(base.folder, path)];
    if (bytes > MOST_COMPARED || sizes.get(path) !== bytes || isLinked(snapshot, base.folder, file)) continue;
    if (!isSameButId(file, basename(snapshot), earlier)) continue;
    remove(file);
    linkFile(earlier, file);
  }
}

/**
 * Adds the checksums of its files to a manifest that was just made. A hard link to a file of the snapshot before takes the
 * checksum of that file, so only files that the run wrote are read.
 */
export async function addChecksums(
  snapshot: string,
  manifest: Manifest,
  base: { readonly folder: string; readonly manifest: Manifest } | undefined,
  signal?: AbortSignal,
): Promise<void> {
  const earlier = base === undefined ? [] : allFiles(base.manifest);
  const known = new Map(earlier.map((file) => [file.path, file.sha256]));
  for (const file of allFiles(manifest)) {
    signal?.throwIfAborted();
    const path = join(snapshot, file.path);
    const linked = isLinked(snapshot, base?.folder, path) ? known.get(file.path) : undefined;
    file.sha256 = linked ?? (await checksumOf(path));
  }
}
