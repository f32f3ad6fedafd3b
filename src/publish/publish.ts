import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { listFiles } from '../lake/files.js';
import type { Layout } from '../lake/layout.js';
import { type Manifest, type ManifestTable, SCHEMA_VERSION, writeManifest } from '../lake/manifest.js';
import { type OwnTable, ownTables } from '../lake/own-tables.js';
import type { Column, TableSchema } from '../lake/schema.js';
import { rows } from '../lake/session.js';
import { PublishError } from './publish-error.js';

/** What the manifest says besides its tables. */
export type SnapshotFacts = Omit<Manifest, 'tables' | 'marts' | 'schema_version'>;

/** A mart in the snapshot: its name and its key. */
export interface MartFacts {
  readonly name: string;
  readonly key: readonly string[];
}

/** Describes every file of a snapshot and writes its manifest. */
export async function sealSnapshot(
  connection: DuckDBConnection,
  snapshot: string,
  facts: SnapshotFacts,
  schemas: ReadonlyMap<string, TableSchema>,
  marts: readonly MartFacts[],
  own: readonly OwnTable[] = ownTables,
): Promise<Manifest> {
  const tables: Record<string, ManifestTable> = {};
  for (const { table, columns } of schemas.values()) {
    const partitioned = table.partition !== undefined;
    tables[table.name] = await describe(connection, snapshot, table.name, columns, table.key, partitioned);
  }
  for (const { name, columns, key, partitioned } of own) {
    const plain = columns.map((column) => ({ name: column.name, type: column.type }));
    tables[name] = await describe(connection, snapshot, name, plain, key, partitioned);
  }
  const described: Record<string, ManifestTable> = {};
  for (const { name, key } of marts) {
    const columns = await martColumns(connection, snapshot, name);
    described[name] = await describe(connection, snapshot, name, columns, key, false);
  }
  const manifest = { ...facts, schema_version: SCHEMA_VERSION, tables, marts: described };
  writeManifest(snapshot, manifest);
  return manifest;
}

/** Describes a state that a rebuild goes on from and never publishes. */
export async function sealState(
  connection: DuckDBConnection,
  folder: string,
  facts: Pick<SnapshotFacts, 'run_id' | 'last_full_pass_at' | 'last_pass_at'>,
  schemas: ReadonlyMap<string, TableSchema>,
): Promise<Manifest> {
  const rest = { snapshot_id: facts.run_id, pipeline: 'rebuild', created_at: new Date().toISOString() };
  const own = ownTables.filter((table) => table.name !== 'runs');
  return sealSnapshot(connection, folder, { ...facts, ...rest }, schemas, [], own);
}

async function describe(
  connection: DuckDBConnection,
  snapshot: string,
  name: string,
  columns: readonly Column[],
  key: readonly string[],
  partitioned: boolean,
): Promise<ManifestTable> {
  const files = await listFiles(connection, snapshot, name);
  if (files.length === 0) throw new PublishError(`the snapshot has no file of ${name}`);
  return {
    columns: [...columns],
    key: [...key],
    partitioned,
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    files,
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
    renameSync(link, layout.current);
  } catch (error) {
    rmSync(link, { force: true });
    throw new PublishError(`${layout.current} cannot be switched to ${basename(snapshot)}`, {
      cause: error,
      hint: 'the last snapshot stays current; run the same command again',
    });
  }
}
