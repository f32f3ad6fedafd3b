import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../config/lotlake-error.js';
import { makeFolder, remove, replaceFile, writeNew } from '../config/owned.js';
import type { BaseState } from '../lake/base.js';
import type { Layout } from '../lake/layout.js';
import { allFiles, allTables } from '../lake/manifest.js';
import { hasManifest, listSnapshots } from '../lake/snapshots.js';
import type { VacuumPlan } from '../lake/vacuum.js';
import type { Described } from '../publish/warehouse.js';
import type { PreviousMetadata } from './manifests.js';
import { retainSnapshots } from './metadata.js';
import { headFiles, readPrevious } from './plan.js';
import { planTables } from './tables.js';

/** URI of a path. Readers do not decode it, so nothing in it is escaped. */
const uriOf = (path: string): string => `file://${path}`;

const pathOf = (uri: string): string => uri.slice('file://'.length);

const readLocal = async (uri: string): Promise<Buffer | undefined> =>
  existsSync(pathOf(uri)) ? readFileSync(pathOf(uri)) : undefined;

/** A snapshot that has metadata. */
interface Written {
  readonly snapshot: BaseState;
  /** Metadata by table. */
  readonly tables: ReadonlyMap<string, PreviousMetadata>;
}

/**
 * Writes Iceberg metadata into the table folders of each snapshot that has none for its current path. The metadata names
 * the snapshot and those before it. Throws ICEBERG_TYPE.
 * @param snapshots all snapshots that are kept, oldest first
 */
export async function writeLocalMetadata(
  connection: DuckDBConnection,
  snapshots: readonly BaseState[],
  descriptions: readonly Described[],
): Promise<void> {
  const kept = snapshots.map(({ manifest }) => manifest.snapshot_id);
  let before = await newestWritten(snapshots);
  const first = before === undefined ? 0 : snapshots.indexOf(before.snapshot) + 1;
  for (const snapshot of snapshots.slice(first))
    before = await writeTables(connection, snapshot, descriptions, kept, before);
}

/** The newest snapshot with metadata. All snapshots before it have metadata, too. */
async function newestWritten(snapshots: readonly BaseState[]): Promise<Written | undefined> {
  for (const snapshot of snapshots.toReversed()) {
    const tables = await readTables(snapshot);
    if (tables !== undefined) return { snapshot, tables };
  }
  return undefined;
}

/** Metadata of all tables of a snapshot; undefined if a table has none. */
async function readTables({ folder, manifest }: BaseState): Promise<Written['tables'] | undefined> {
  const found = new Map<string, PreviousMetadata>();
  for (const name of Object.keys(allTables(manifest))) {
    const previous = await readTable(join(folder, name));
    if (previous === undefined) return undefined;
    found.set(name, previous);
  }
  return found;
}

/** Metadata of the table in a folder; undefined if there is none, it is damaged, or it is for another path. */
async function readTable(folder: string): Promise<PreviousMetadata | undefined> {
  const location = uriOf(folder);
  const previous = await readPrevious(location, readLocal).catch((error: unknown) => {
    // Metadata that a power cut damaged is written again.
    if (error instanceof LotlakeError && error.code === 'ICEBERG_METADATA') return undefined;
    throw error;
  });
  return previous?.metadata.location === location ? previous : undefined;
}

async function writeTables(
  connection: DuckDBConnection,
  snapshot: BaseState,
  descriptions: readonly Described[],
  kept: readonly string[],
  before: Written | undefined,
): Promise<Written> {
  const { folder } = snapshot;
  const earlier = urisByChecksum(before?.snapshot);
  const plans = await planTables(connection, snapshot, descriptions, {
    kept,
    previous: before?.tables ?? new Map(),
    locationOf: (table) => uriOf(join(folder, table)),
    uriOf: ({ path }) => uriOf(join(folder, path)),
    knownAs: ({ sha256 }) => (sha256 === undefined ? undefined : earlier.get(sha256)),
  });
  for (const [table, plan] of plans) {
    // Metadata that is there is for another path, or damaged.
    const metadata = join(folder, table, 'metadata');
    remove(metadata);
    makeFolder(metadata);
    for (const { uri, content } of [...plan.before, ...plan.after]) writeNew(pathOf(uri), content);
  }
  return { snapshot, tables: plans };
}

/** URIs of the files of a snapshot by their checksums. */
function urisByChecksum(snapshot: BaseState | undefined): ReadonlyMap<unknown, string> {
  if (snapshot === undefined) return new Map();
  const { folder, manifest } = snapshot;
  return new Map(allFiles(manifest).map(({ path, sha256 }) => [sha256, uriOf(join(folder, path))]));
}

/**
 * Removes the snapshots that a vacuum is about to remove from the metadata of the other snapshots, so that no reader looks
 * for a file that is gone. Damaged metadata stays as it is. Throws the error of the system if metadata cannot be written;
 * it can be called again after the removal.
 */
export async function retainLocalMetadata(
  layout: Layout,
  { removals }: Pick<VacuumPlan, 'removals'>,
): Promise<void> {
  const going = new Set(removals.map(({ path }) => join(layout.output, path)));
  const staying = listSnapshots(layout)
    .filter(({ folder }) => !going.has(folder))
    .filter(hasManifest);
  const kept = staying.map(({ id }) => id);
  for (const { folder, manifest } of staying)
    for (const name of Object.keys(allTables(manifest))) {
      const table = await readTable(join(folder, name));
      if (table === undefined) continue;
      const retained = retainSnapshots(table.metadata, kept);
      if (retained.snapshots.length === table.metadata.snapshots.length) continue;
      // A reader gets the old text or the new one under the same name.
      const [{ uri, content }] = headFiles(retained, table.version);
      replaceFile(pathOf(uri), content);
    }
}
