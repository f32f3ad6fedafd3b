import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { copyNew, move, remove, temporaryOf } from '../../base/config/owned.js';
import { identifier, inDatabase, inTransaction, literal, literals, rows } from '../../base/duck/session.js';
import { hasPartitions, readParquet } from './files.js';
import { currentSnapshot, type Layout, WAREHOUSE } from './layout.js';
import { allTables, type LakeFile, readManifest } from './manifest.js';
import { listSnapshots } from './snapshots.js';

/**
 * Variable of a DuckDB session: the folder in which views look for their files. Without it they use the folder that they
 * name, because no view can find the place of its own database (docs/decisions/0053-reading-by-the-manifest.md).
 */
export const FOLDER = 'lotlake_snapshot';

/** A table or mart with the files that a view on it reads. */
export interface ViewedTable {
  readonly name: string;
  readonly partitioned: boolean;
  readonly files: readonly Pick<LakeFile, 'path'>[];
}

/**
 * SQL of the view on a table or mart of a snapshot, which lists its files
 * (docs/decisions/0053-reading-by-the-manifest.md).
 */
export function viewOn(snapshot: string, { name, partitioned, files }: ViewedTable): string {
  const folder = `coalesce(getvariable('${FOLDER}'), ${literal(snapshot)})`;
  const list = `[${folder} || '/' || file for file in ${literals(files.map(({ path }) => path))}]`;
  return `create or replace view ${identifier(name)} as select * from ${readParquet(list, hasPartitions(files, partitioned))}`;
}

/** SQL that describes a view, or one of its columns. */
export function commentOn(text: string, view: string, column?: string): string {
  const what =
    column === undefined ? `view ${identifier(view)}` : `column ${identifier(view)}.${identifier(column)}`;
  return `comment on ${what} is ${literal(text)}`;
}

/** The folder in the SQL of a view, behind the variable. */
const NAMED = new RegExp(`getvariable\\('${FOLDER}'\\), '((?:[^']|'')*)'`);

/** Finds the folders, other than that of the snapshot, that the views of an attached database name. */
export async function namedFolders(
  connection: DuckDBConnection,
  database: string,
  snapshot: string,
): Promise<readonly string[]> {
  const views = await rows(
    connection,
    // A view of the user reads no files, whatever its text says.
    `select sql from duckdb_views() where database_name = ${literal(database)} and not internal and contains(sql, 'read_parquet(')`,
  );
  const folders = views.flatMap(({ sql }) => NAMED.exec(String(sql))?.[1]?.replaceAll("''", "'") ?? []);
  return [...new Set(folders)].filter((folder) => !isSame(folder, snapshot));
}

function isSame(folder: string, snapshot: string): boolean {
  return existsSync(folder) && realpathSync(folder) === realpathSync(snapshot);
}

/**
 * Renews the views of all snapshots if the views of the opened one name another folder, because the lake was moved or
 * copied. The current snapshot comes last, so once it is renewed all are. A database that cannot be opened or written stays
 * as it is; `verify` reports it. The caller holds the lock.
 */
export async function mendViews(connection: DuckDBConnection, layout: Layout, opened: string): Promise<void> {
  if (!(await isMoved(connection, opened))) return;
  const current = currentSnapshot(layout);
  const others = listSnapshots(layout).filter(({ folder, manifest }) => manifest && folder !== current);
  try {
    for (const folder of [...others.map((snapshot) => snapshot.folder), current ?? opened])
      if (await isMoved(connection, folder)) await renewViews(connection, folder);
  } catch {
    // A run can do without new views, and makes those of its own snapshot.
  }
}

async function isMoved(connection: DuckDBConnection, snapshot: string): Promise<boolean> {
  try {
    await connection.run(`attach ${literal(join(snapshot, WAREHOUSE))} as looked_at (read_only)`);
    return (await namedFolders(connection, 'looked_at', snapshot)).length > 0;
  } catch {
    return false;
  } finally {
    await connection.run('detach database if exists looked_at');
  }
}

/**
 * Renews the views of a snapshot's database, with their descriptions, in a copy that then replaces the database. A process
 * that has the database open keeps the earlier one.
 * @param named folder that the views name; another one if the snapshot is to be moved there
 */
export async function renewViews(
  connection: DuckDBConnection,
  snapshot: string,
  named: string = snapshot,
): Promise<void> {
  const database = join(snapshot, WAREHOUSE);
  // Beside the snapshots, on the same disk. A vacuum removes what a dead process left there.
  const scratch = temporaryOf(join(dirname(dirname(snapshot)), 'warehouse'));
  try {
    copyNew(database, scratch);
    await inDatabase(connection, scratch, 'renewed', () => makeViews(connection, snapshot, named));
    move(scratch, database);
  } finally {
    for (const path of [scratch, `${scratch}.wal`]) remove(path);
  }
}

/** Renews the views of the database `renewed`, which the connection uses. */
async function makeViews(connection: DuckDBConnection, snapshot: string, named: string): Promise<void> {
  const tables = allTables(readManifest(snapshot));
  const found = await rows(
    connection,
    `select view_name, null as column_name, comment from duckdb_views() where database_name = 'renewed'
     union all
     select table_name, column_name, comment from duckdb_columns() where database_name = 'renewed'`,
  );
  const views = Object.entries(tables)
    .filter(([name]) => found.some(({ view_name }) => view_name === name))
    .map(([name, table]) => viewOn(named, { ...table, name }));
  const comments = found
    .filter(({ comment }) => comment !== null)
    .map(({ view_name, column_name, comment }) => {
      const column = column_name === null ? undefined : String(column_name);
      return commentOn(String(comment), String(view_name), column);
    });
  await connection.run(`set variable ${FOLDER} = ${literal(snapshot)}`);
  await inTransaction(connection, [...views, ...comments]).finally(() =>
    connection.run(`reset variable ${FOLDER}`),
  );
}
