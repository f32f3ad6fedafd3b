import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { killPoint } from '../config/kill-point.js';
import { messageOf } from '../config/lotlake-error.js';
import { version } from '../config/package-root.js';
import { rows } from '../duck/session.js';
import type { BaseState } from '../lake/base.js';
import { listFiles, ownFiles, withChecksums } from '../lake/files.js';
import type { Layout } from '../lake/layout.js';
import {
  type LakeFile,
  type Manifest,
  type ManifestTable,
  SCHEMA_VERSION,
  writeManifest,
} from '../lake/manifest.js';
import { type OwnTable, ownTables } from '../lake/own-tables.js';
import type { Column, TableSchema } from '../lake/schema.js';
import { foldersBelow, syncFiles, syncFolders } from '../land/files.js';
import { PublishError } from './publish-error.js';

/** What the manifest says besides its tables. */
export type SnapshotFacts = Omit<Manifest, 'tables' | 'marts' | 'schema_version' | 'lotlake_version'>;

/** A mart in the snapshot: its name and its key. */
export interface MartFacts {
  readonly name: string;
  readonly key: readonly string[];
}

/**
 * Waits until the files that a snapshot does not share with the published one, and the folders in it, are on disk, but
 * for those that were synced before. Returns all that are. Throws PublishError.
 */
export async function syncSnapshot(
  snapshot: string,
  published: string | undefined,
  before: ReadonlySet<string> = new Set(),
): Promise<ReadonlySet<string>> {
  const isNew = (path: string): boolean => !before.has(path);
  const files = ownFiles(snapshot, published).filter(isNew);
  const folders = foldersBelow(snapshot).filter(isNew);
  try {
    await syncFiles(files);
    await syncFolders(folders);
  } catch (error) {
    throw new PublishError(`${snapshot} cannot be synced: ${messageOf(error)}`, {
      cause: error,
      hint: 'the last snapshot stays current; see whether the disk is sound and run the same command again',
    });
  }
  return new Set([...before, ...files, ...folders]);
}

/** Describes every file of a snapshot, with checksums, and writes its manifest. */
export async function sealSnapshot(
  connection: DuckDBConnection,
  snapshot: string,
  facts: SnapshotFacts,
  schemas: ReadonlyMap<string, TableSchema>,
  marts: readonly MartFacts[],
  base: BaseState | undefined,
  signal?: AbortSignal,
): Promise<Manifest> {
  const described = await describeSnapshot(connection, snapshot, facts, schemas, marts, ownTables);
  const manifest = await withChecksums(snapshot, described, base, signal);
  killPoint('publish.described');
  try {
    writeManifest(snapshot, manifest);
  } catch (error) {
    throw new PublishError(`the manifest of ${snapshot} cannot be written: ${messageOf(error)}`, {
      cause: error,
      hint: 'the last snapshot stays current; run the same command again',
    });
  }
  return manifest;
}

async function describeSnapshot(
  connection: DuckDBConnection,
  snapshot: string,
  facts: SnapshotFacts,
  schemas: ReadonlyMap<string, TableSchema>,
  marts: readonly MartFacts[],
  own: readonly OwnTable[],
): Promise<Manifest> {
  const names = [...schemas.keys(), ...own.map((table) => table.name), ...marts.map((mart) => mart.name)];
  const files = await filesByTable(connection, snapshot, names);
  const tables: Record<string, ManifestTable> = {};
  for (const { table, columns } of schemas.values()) {
    const partitioned = table.partition !== undefined;
    tables[table.name] = describe(files, table.name, columns, table.key, partitioned);
  }
  for (const { name, columns, key, partitioned } of own) {
    const plain = columns.map((column) => ({ name: column.name, type: column.type }));
    tables[name] = describe(files, name, plain, key, partitioned);
  }
  const described: Record<string, ManifestTable> = {};
  for (const { name, key } of marts) {
    const columns = await martColumns(connection, snapshot, name);
    described[name] = describe(files, name, columns, key, false);
  }
  return {
    ...{ ...facts, schema_version: SCHEMA_VERSION, lotlake_version: version },
    ...{ tables, marts: described },
  };
}

/** Describes a state that a rebuild goes on from and never publishes. */
export async function sealState(
  connection: DuckDBConnection,
  folder: string,
  facts: Omit<SnapshotFacts, 'snapshot_id' | 'pipeline' | 'created_at' | 'pass_ids' | 'recipe' | 'origin'>,
  schemas: ReadonlyMap<string, TableSchema>,
): Promise<Manifest> {
  const rest = {
    snapshot_id: facts.run_id,
    pipeline: 'rebuild',
    created_at: new Date().toISOString(),
    pass_ids: [],
    origin: null,
  };
  const own = ownTables.filter((table) => table.name !== 'runs');
  const manifest = await describeSnapshot(connection, folder, { ...facts, ...rest }, schemas, [], own);
  writeManifest(folder, manifest);
  return manifest;
}

/** The files of every table, whose footers are read by one statement. */
async function filesByTable(
  connection: DuckDBConnection,
  snapshot: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly LakeFile[]>> {
  const byTable = new Map<string, LakeFile[]>();
  for (const file of await listFiles(connection, snapshot, ...names)) {
    const table = file.path.slice(0, file.path.indexOf('/'));
    const files = byTable.get(table);
    if (files === undefined) byTable.set(table, [file]);
    else files.push(file);
  }
  return byTable;
}

function describe(
  byTable: ReadonlyMap<string, readonly LakeFile[]>,
  name: string,
  columns: readonly Column[],
  key: readonly string[],
  partitioned: boolean,
): ManifestTable {
  const files = byTable.get(name) ?? [];
  if (files.length === 0) throw new PublishError(`the snapshot has no file of ${name}`);
  return {
    columns: [...columns],
    key: [...key],
    partitioned,
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    files: [...files],
  };
}

async function martColumns(connection: DuckDBConnection, snapshot: string, name: string): Promise<Column[]> {
  const path = join(snapshot, name, '*.parquet').replaceAll("'", "''");
  const described = await rows(
    connection,
    `describe select * from read_parquet('${path}', hive_partitioning = false)`,
  );
  return described.map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
}

/**
 * Makes a snapshot the current one by one rename of a symbolic link, so that a reader sees the old dataset or the new
 * one. Throws PublishError, with the old snapshot still current, where the link cannot be switched.
 */
export function switchCurrent(layout: Layout, snapshot: string): void {
  if (!existsSync(join(snapshot, 'manifest.json')))
    throw new PublishError(`${snapshot} has no manifest and is not published`);
  mkdirSync(layout.lake, { recursive: true });
  const link = `${layout.current}.${process.pid}.tmp`;
  try {
    rmSync(link, { force: true });
    symlinkSync(join('snapshots', basename(snapshot)), link);
    killPoint('publish.link-made');
    renameSync(link, layout.current);
  } catch (error) {
    rmSync(link, { force: true });
    throw new PublishError(
      `${layout.current} cannot be switched to ${basename(snapshot)}: ${messageOf(error)}`,
      {
        cause: error,
        hint: 'the last snapshot stays current; run the same command again',
      },
    );
  }
}
