import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { assertNoLinks } from '../../base/config/owned.js';
import {
  identifier,
  literals,
  openTemporarySession,
  type TemporarySession,
} from '../../base/duck/session.js';
import { assertUnbroken, brokenLink } from '../../core/lake/broken-link.js';
import { patternOf } from '../../core/lake/files.js';
import { currentSnapshot, layoutOf } from '../../core/lake/layout.js';
import { allNames, allTables, type Manifest, readManifest } from '../../core/lake/manifest.js';
import { assertPresent } from '../../core/lake/presence.js';
import { type Choice, findSnapshot, pickSnapshot } from '../../core/lake/snapshots.js';
import { viewOn } from '../../core/lake/views.js';
import { createFunctions } from '../../core/model/functions.js';
import { type ReadQuery, readQuery } from '../../core/model/read-only.js';
import { SETTINGS } from '../../core/model/sql-tree.js';

/** A snapshot of the lake, opened for reading. */
export interface OpenLake extends TemporarySession {
  /** Folder of the snapshot. */
  readonly snapshot: string;
  readonly manifest: Manifest;
}

/** Which snapshot of a lake to open, and what for. */
export interface Reading {
  /** A text or a query: only the names that it uses get views. By default every name gets one. */
  readonly named?: string | ((connection: DuckDBConnection) => Promise<Pick<ReadQuery, 'needed'>>);
  /** An older snapshot that is kept; the published one by default. */
  readonly choice?: Choice | undefined;
  /** A folder that may be written to. Rows then keep the order of the files. */
  readonly into?: string;
  /** Other files that may be read. */
  readonly beside?: readonly string[];
  /** Interrupts the database when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a snapshot with a view for each table and mart that is named. The session can reach only the files that the manifest
 * lists for them, and its own folder. Throws LAKE_UNSOUND if one of these files is missing or has another size. DuckDB can also write each file that it can reach, so {@link readQuery} must check what a user typed.
 * Nothing of the lake is written. The caller closes the session.
 */
export async function openSnapshot(
  config: Config,
  { named, choice = {}, into, beside = [], signal }: Reading,
): Promise<OpenLake> {
  const isChosen = choice.snapshot !== undefined || choice.asOf !== undefined;
  // A snapshot that is named needs no link.
  const published =
    isChosen && brokenLink(layoutOf(config.output)) !== undefined ? undefined : snapshotFolder(config);
  const opened = await openTemporarySession(config);
  opened.session.interruptOn(signal);
  try {
    const { connection } = opened.session;
    const layout = layoutOf(config.output);
    const snapshot = (await pickSnapshot(connection, layout, choice)) ?? published ?? snapshotFolder(config);
    const manifest = readManifest(snapshot);
    const tables = allTables(manifest);
    const { needed } = typeof named === 'function' ? await named(connection) : wordsOf(named);
    const wanted = withReads(needed(allNames(manifest)), manifest);
    assertPresent(snapshot, manifest, wanted);
    const reached = [...beside];
    for (const [name, table] of Object.entries(tables)) {
      if (!wanted.has(name)) continue;
      assertNoLinks(join(snapshot, name), snapshot);
      await connection.run(viewOn(snapshot, { ...table, name }));
      reached.push(patternOf(snapshot, name), ...table.files.map(({ path }) => join(snapshot, path)));
    }
    const folders = [opened.temp, ...(into === undefined ? [] : [into])].map((folder) => `${folder}/`);
    // Several threads would write their rows in any order, even if insertion order is preserved.
    if (into !== undefined) await connection.run('set threads = 1');
    // The files of a snapshot do not change, and many statements read them.
    await connection.run('set global parquet_metadata_cache = true');
    await confine(connection, reached, folders);
    await createFunctions(connection, 'values');
    if (wanted.has(SETTINGS)) await createFunctions(connection, 'enough');
    for (const [name, { sql }] of Object.entries(manifest.views))
      if (wanted.has(name)) await createView(connection, name, sql);
    return { ...opened, snapshot, manifest };
  } catch (error) {
    opened.close();
    throw error;
  }
}

/** Names with all that the views among them read. */
function withReads(names: readonly string[], { views }: Manifest): ReadonlySet<string> {
  const found = new Set(names);
  for (const name of found) for (const read of views[name]?.reads ?? []) found.add(read);
  return found;
}

/** Makes a view of a manifest, whose SQL may come from anywhere, in a session that is confined. */
export async function createView(connection: DuckDBConnection, name: string, sql: string): Promise<void> {
  await readQuery(connection, sql);
  await connection.run(`create view ${identifier(name)} as\n${sql}`);
}

/** Keeps a session, for good, from all files but these paths, and those in these folders. */
export async function confine(
  connection: DuckDBConnection,
  paths: readonly string[],
  folders: readonly string[],
): Promise<void> {
  await connection.run(`set allowed_paths = ${literals(paths)}`);
  await connection.run(`set allowed_directories = ${literals(folders)}`);
  await connection.run('set enable_external_access = false');
  await connection.run('set lock_configuration = true');
}

/** Opens a snapshot as {@link openSnapshot} does, runs work on it, and closes it. */
export async function readLake<T>(
  config: Config,
  reading: Reading,
  work: (lake: OpenLake) => Promise<T>,
): Promise<T> {
  return workIn(await openSnapshot(config, reading), work);
}

/** Opens a database in memory, runs work on it, and closes it. */
export async function withDatabase<T>(
  limits: Parameters<typeof openTemporarySession>[0],
  signal: AbortSignal | undefined,
  work: (opened: TemporarySession) => Promise<T>,
): Promise<T> {
  const opened = await openTemporarySession(limits);
  opened.session.interruptOn(signal);
  return workIn(opened, work);
}

async function workIn<O extends TemporarySession, T>(opened: O, work: (opened: O) => Promise<T>): Promise<T> {
  try {
    return await work(opened);
  } finally {
    opened.close();
  }
}

function wordsOf(text: string | undefined): Pick<ReadQuery, 'needed'> {
  const words = text === undefined ? undefined : new Set(text.toLowerCase().match(/[a-z_0-9]+/g) ?? []);
  return { needed: (tables) => tables.filter((name) => words?.has(name) ?? true) };
}

/**
 * Folder of the snapshot of an id, by default the published one. Throws QUERY_NO_SNAPSHOT, LAKE_NO_SNAPSHOT, or LAKE_UNSOUND
 * if a copy has broken the link to the published one.
 */
export function snapshotFolder({ output }: Config, id?: string): string {
  const layout = layoutOf(output);
  if (id === undefined) assertUnbroken(layout);
  const snapshot = id === undefined ? currentSnapshot(layout) : findSnapshot(layout, id);
  if (snapshot !== undefined) return snapshot;
  const sandbox = join(output, 'sandbox');
  const hint =
    currentSnapshot(layoutOf(sandbox)) === undefined
      ? 'run lotlake run nightly first, or name another folder with --output'
      : `that of the sandbox is in ${sandbox}: name it with --output`;
  throw new LotlakeError('QUERY_NO_SNAPSHOT', `there is no published lake in ${output}`, { hint });
}
