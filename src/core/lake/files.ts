import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { assertNoLinks } from '../../base/config/owned.js';
import { literals } from '../../base/duck/session.js';
import { foldersBelow, syncFiles, syncFolders } from './disk.js';
import type { LakeFile, Manifest } from './manifest.js';

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

/** Waits until a folder that was copied, with all that is below it, is on disk. */
export async function syncCopy(folder: string): Promise<void> {
  await syncFiles(filesBelow(folder).filter((path) => lstatSync(path).isFile()));
  await syncFolders([...foldersBelow(folder), folder]);
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
