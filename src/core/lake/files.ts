import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { codeOf, LotlakeError } from '../../base/config/lotlake-error.js';
import { assertNoLinks, copyNew, makeFolder, makeHardLink, remove } from '../../base/config/owned.js';
import { literals, rows } from '../../base/duck/session.js';
import { checksumOf } from '../land/files.js';
import { allFiles, type LakeFile, type Manifest } from './manifest.js';

/** A Parquet file of a snapshot, before its rows are counted. */
export type FileSize = Omit<LakeFile, 'rows'>;

/** All files below a folder, or the path itself if it is a file. Symbolic links count as files. */
export function filesBelow(path: string): string[] {
  if (!lstatSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Bytes that the files below a folder take on disk; one with several names counts once. */
export function diskUse(folder: string): number {
  const sizes = new Map<string, number>();
  for (const file of filesBelow(folder)) {
    // Another process may remove a file meanwhile.
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found !== undefined) sizes.set(`${found.dev}:${found.ino}`, found.blocks * 512);
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/**
 * Parquet files below a folder of a snapshot with their sizes; paths are relative to the snapshot. Throws LAKE_NOT_OWNED if
 * there is a link, because what is behind it is not of the lake.
 */
export function fileSizes(snapshot: string, name: string): FileSize[] {
  const folder = join(snapshot, name);
  if (!existsSync(folder)) return [];
  assertNoLinks(folder, snapshot);
  return filesBelow(folder)
    .filter((path) => path.endsWith('.parquet'))
    .map((path) => ({ path: relative(snapshot, path), bytes: statSync(path).size }));
}

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

/**
 * Measures files and folders that are removed in the given order: the bytes of all files in each, and the bytes that are
 * freed. A file with a hard link elsewhere frees nothing. Its bytes count where its last link is removed.
 */
export function measure<T extends { readonly path: string }>(removed: readonly T[]) {
  const gone = new Map<string, number>();
  return removed.map((removal) => {
    let [bytes, freed] = [0, 0];
    for (const file of filesBelow(removal.path)) {
      const { dev, ino, nlink, size } = lstatSync(file);
      const names = (gone.get(`${dev}:${ino}`) ?? 0) + 1;
      gone.set(`${dev}:${ino}`, names);
      bytes += size;
      if (names === nlink) freed += size;
    }
    return { ...removal, bytes, freed };
  });
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
  manifest: Manifest,
  base: { readonly folder: string; readonly manifest: Manifest },
): void {
  const sizes = new Map(allFiles(base.manifest).map(({ path, bytes }) => [path, bytes]));
  for (const { path, bytes } of allFiles(manifest)) {
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

/** Partition of a file, as its path names it: `domain_id=3/month=2026-11`; empty for an unpartitioned file. */
export function partitionOf(file: Pick<LakeFile, 'path'>): string {
  return file.path.split('/').slice(1, -1).join('/');
}

/** Pattern of the files of a table or mart below the folder of its snapshot, as users write it. */
export const patternOf = (snapshot: string, name: string): string => `${snapshot}/${name}/**/*.parquet`;

/**
 * SQL of the partition columns of a row: the last two folders above its file. DuckDB would read every `key=value` of the whole
 * path, also above the lake. A filter on such a column still decides which files are opened.
 */
const PARTITION_OF_FILE = [
  "try_cast(regexp_extract(filename, '/domain_id=([^/]*)/month=[^/]*/[^/]*$', 1) as bigint) as domain_id",
  "regexp_extract(filename, '/month=([^/]*)/[^/]*$', 1) as month",
].join(', ');

/**
 * SQL that reads a list of files, with their partition columns if these are in the paths.
 * @param files SQL of the list of their paths
 * @param named whether each row has the path of its file as `filename`
 */
export function readParquet(files: string, hasPartitions: boolean, named = false): string {
  const read = `read_parquet(${files}, hive_partitioning = false${named || hasPartitions ? ', filename = true' : ''})`;
  if (!hasPartitions) return read;
  return `(select * ${named ? '' : 'exclude (filename)'}, ${PARTITION_OF_FILE} from ${read})`;
}

/** Whether the partition columns of a table are in the paths of its files. The file of an empty table has them itself. */
export const hasPartitions = (files: readonly Pick<LakeFile, 'path'>[], partitioned: boolean): boolean =>
  partitioned && files.some((file) => partitionOf(file) !== '');

/**
 * A relation over files of a snapshot, with the partition columns in their types. All files of a table have the same columns.
 * @param named whether each row has the path of its file as `filename`
 */
export function filesRelation(
  snapshot: string,
  files: readonly Pick<LakeFile, 'path'>[],
  partitioned: boolean,
  named = false,
): string {
  const paths = literals(files.map((file) => join(snapshot, file.path)));
  return readParquet(paths, hasPartitions(files, partitioned), named);
}

/** A relation over a whole table or mart of a snapshot, by its manifest. Throws LAKE_MANIFEST if it has no such table. */
export function tableRelation(
  { folder, manifest }: { readonly folder: string; readonly manifest: Pick<Manifest, 'tables' | 'marts'> },
  name: string,
): string {
  const table = manifest.tables[name] ?? manifest.marts[name];
  if (table === undefined) throw new LotlakeError('LAKE_MANIFEST', `${folder} has no table ${name}`);
  return filesRelation(folder, table.files, table.partitioned);
}

/** A relation over a table that this run has just written into a folder. Nothing lists the files of that folder yet. */
export const writtenRelation = (folder: string, name: string, partitioned: boolean): string =>
  filesRelation(folder, fileSizes(folder, name), partitioned);
