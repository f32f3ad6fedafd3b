import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { literal, literals, rows } from '../duck/session.js';
import type { LakeFile } from './manifest.js';

/** A Parquet file of a snapshot, before its rows are counted. */
export type FileSize = Omit<LakeFile, 'rows'>;

/** Parquet files below a folder of a snapshot with their sizes; paths are relative to the snapshot. */
export function fileSizes(snapshot: string, name: string): FileSize[] {
  const folder = join(snapshot, name);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.parquet'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ path: relative(snapshot, path), bytes: statSync(path).size }));
}

/** Parquet files below folders of a snapshot, with the row counts that their footers give. */
export async function listFiles(
  connection: DuckDBConnection,
  snapshot: string,
  ...names: readonly string[]
): Promise<LakeFile[]> {
  const files = names.flatMap((name) => fileSizes(snapshot, name));
  if (files.length === 0) return [];
  const paths = literals(files.map((file) => join(snapshot, file.path)));
  const counts = await rows(connection, `select file_name, num_rows from parquet_file_metadata(${paths})`);
  const byName = new Map(counts.map((row) => [String(row.file_name), Number(row.num_rows)]));
  return files.map((file) => ({ ...file, rows: byName.get(join(snapshot, file.path)) ?? 0 }));
}

/** Gives a file a second name in another snapshot; copies it where the file system has no hard links. */
export function linkFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EMLINK') throw error;
    copyFileSync(from, to);
  }
}

/** Partition of a file, as its path names it: `domain_id=3/month=2026-11`; empty for an unpartitioned file. */
export function partitionOf(file: LakeFile): string {
  return file.path.split('/').slice(1, -1).join('/');
}

/** A relation over files of a snapshot, with the partition columns in their types. */
export function filesRelation(snapshot: string, files: readonly LakeFile[], partitioned: boolean): string {
  const paths = literals(files.map((file) => join(snapshot, file.path)));
  const hive = partitioned && files.some((file) => partitionOf(file) !== '');
  return `read_parquet(${paths}${hive ? `, ${HIVE}` : ', hive_partitioning = false'}, union_by_name = true)`;
}

/** Reader option for the partition columns; their types (BIGINT, VARCHAR) are what DuckDB finds by itself. */
export const HIVE = 'hive_partitioning = true';

/** A relation over a whole table of a snapshot by glob, as any reader would write it. */
export function globRelation(snapshot: string, name: string, hive: boolean): string {
  const glob = literal(join(snapshot, name, '**', '*.parquet'));
  return `read_parquet(${glob}, ${hive ? HIVE : 'hive_partitioning = false'})`;
}
