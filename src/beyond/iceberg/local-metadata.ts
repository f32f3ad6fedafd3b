import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder, remove, replaceFile, writeNew } from '../../base/config/owned.js';
import type { BaseState } from '../../core/lake/base.js';
import { currentSnapshot, type Layout, layoutOf } from '../../core/lake/layout.js';
import { allFiles, allTables, type Manifest, manifestIn } from '../../core/lake/manifest.js';
import { findPublished, hasManifest, listSnapshots } from '../../core/lake/snapshots.js';
import type { Described } from '../../core/model/warehouse.js';
import type { VacuumPlan } from '../keep/vacuum-lake.js';
import { headFiles, readPrevious } from './commit-plan.js';
import { planTables } from './iceberg-tables.js';
import type { PreviousMetadata } from './manifests.js';
import { retainSnapshots } from './metadata.js';

/** How metadata names the files of a lake. Readers do not decode URIs, so nothing in them is escaped. */
interface Naming {
  uriOf(path: string): string;
  pathOf(uri: string): string;
}

/** Names of files where they are. */
const HERE: Naming = {
  uriOf: (path) => `file://${path}`,
  pathOf: (uri) => uri.slice('file://'.length),
};

/** Names of files below a folder that will be moved to another place. */
const movedTo = (folder: string, place: string): Naming => ({
  uriOf: (path) => HERE.uriOf(join(place, relative(folder, path))),
  pathOf: (uri) => join(folder, relative(place, HERE.pathOf(uri))),
});

const readerOf =
  ({ pathOf }: Naming) =>
  async (uri: string): Promise<Buffer | undefined> =>
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
 * @param naming how the metadata names their files
 */
export async function writeLocalMetadata(
  connection: DuckDBConnection,
  snapshots: readonly BaseState[],
  descriptions: readonly Described[],
  naming: Naming = HERE,
): Promise<void> {
  const kept = snapshots.map(({ manifest }) => manifest.snapshot_id);
  let before = await newestWritten(snapshots, naming);
  const first = before === undefined ? 0 : snapshots.indexOf(before.snapshot) + 1;
  for (const snapshot of snapshots.slice(first))
    before = await writeTables(connection, snapshot, descriptions, { kept, before, naming });
}

/**
 * Writes Iceberg metadata into a copy of a lake, if the lake has metadata. It names the place that the copy will be moved to.
 * Throws ICEBERG_TYPE.
 * @param copy folder of the copy, which has no metadata yet
 * @param describe descriptions of the tables of a snapshot
 */
export async function describeCopy(
  connection: DuckDBConnection,
  layout: Layout,
  { copy, place }: { readonly copy: string; readonly place: string },
  describe: (manifest: Manifest) => readonly Described[],
): Promise<void> {
  const folder = currentSnapshot(layout);
  const manifest = folder === undefined ? undefined : manifestIn(folder);
  if (folder === undefined || manifest === undefined) return;
  if ((await readTables({ folder, manifest }, HERE)) === undefined) return;
  const { kept } = await findPublished(connection, layoutOf(copy));
  await writeLocalMetadata(connection, kept, describe(manifest), movedTo(copy, place));
}

/** The newest snapshot with metadata. All snapshots before it have metadata, too. */
async function newestWritten(snapshots: readonly BaseState[], naming: Naming): Promise<Written | undefined> {
  for (const snapshot of snapshots.toReversed()) {
    const tables = await readTables(snapshot, naming);
    if (tables !== undefined) return { snapshot, tables };
  }
  return undefined;
}

/** Metadata of all tables of a snapshot; undefined if a table has none. */
async function readTables(
  { folder, manifest }: BaseState,
  naming: Naming,
): Promise<Written['tables'] | undefined> {
  const found = new Map<string, PreviousMetadata>();
  for (const name of Object.keys(allTables(manifest))) {
    const previous = await readTable(join(folder, name), naming);
    if (previous === undefined) return undefined;
    found.set(name, previous);
  }
  return found;
}

/** Metadata of the table in a folder; undefined if there is none, it is damaged, or it is for another path. */
async function readTable(folder: string, naming = HERE): Promise<PreviousMetadata | undefined> {
  const location = naming.uriOf(folder);
  const previous = await readPrevious(location, readerOf(naming)).catch((error: unknown) => {
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
  { kept, before, naming }: { kept: readonly string[]; before: Written | undefined; naming: Naming },
): Promise<Written> {
  const { folder } = snapshot;
  const { uriOf, pathOf } = naming;
  const earlier = urisByChecksum(before?.snapshot, naming);
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
function urisByChecksum(snapshot: BaseState | undefined, { uriOf }: Naming): ReadonlyMap<unknown, string> {
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
      replaceFile(HERE.pathOf(uri), content);
    }
}
