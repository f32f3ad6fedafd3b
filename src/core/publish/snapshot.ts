import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { byName } from '../../base/config/json.js';
import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { makeFolder, makeLink, move, remove, temporaryOf } from '../../base/config/owned.js';
import { version } from '../../base/config/package-root.js';
import { identifier } from '../../base/duck/session.js';
import type { BaseState } from '../lake/base.js';
import { absentIn, giveIds, type IdRecords, recordIn, type WantedColumn } from '../lake/field-ids.js';
import { writtenRelation } from '../lake/files.js';
import type { Layout } from '../lake/layout.js';
import { addChecksums, linkUnchanged, listFiles, ownFiles } from '../lake/linked-files.js';
import {
  type Manifest,
  type ManifestTable,
  type ManifestView,
  readManifest,
  SCHEMA_VERSION,
  writeManifest,
} from '../lake/manifest.js';
import { type Column, columnsOf, type TableSchema } from '../lake/schema.js';
import { type SystemTable, systemTables } from '../lake/tables.js';
import { foldersBelow, syncFiles, syncFolders } from '../land/files.js';
import { modellingOf } from '../model/own-models.js';
import type { ModelResult } from '../model/run-models.js';

const failed = (what: string, cause: unknown, advice = 'run the same command again'): LotlakeError =>
  new LotlakeError('PUBLISH_FAILED', `${what}: ${messageOf(cause)}`, {
    cause,
    hint: `the last snapshot stays current; ${advice}`,
  });

type MartFacts = Pick<ModelResult, 'name' | 'key' | 'view'> & {
  /** Earlier names of columns by their names. */
  readonly was?: Readonly<Record<string, string | undefined>>;
};

/** The part of a manifest that follows from the files of a snapshot. */
export type DescribedSnapshot = Pick<
  Manifest,
  'schema_version' | 'lotlake_version' | 'tables' | 'marts' | 'views' | 'absent'
>;

/** A table or mart of the snapshot, before its files are counted. */
interface Described extends Pick<MartFacts, 'name' | 'key'>, Pick<SystemTable, 'partition'> {
  readonly columns: readonly (Column & WantedColumn)[];
}

/**
 * Syncs the folders of a snapshot, and the files that it does not share with the published one, to disk.
 * @param before paths that are synced already
 * @returns all synced paths
 * @throws LotlakeError PUBLISH_FAILED
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
    const advice = 'see whether the disk is sound and run the same command again';
    throw failed(`${snapshot} cannot be synced`, error, advice);
  }
  return new Set([...before, ...files, ...folders]);
}

/**
 * Links the files that are as before, adds the checksums of all files to the manifest of a snapshot, writes it, and reads it
 * back as every reader does. Throws PUBLISH_FAILED if it cannot be written or read.
 */
export async function sealSnapshot(
  snapshot: string,
  manifest: Manifest,
  base: BaseState | undefined,
  signal?: AbortSignal,
): Promise<void> {
  if (base !== undefined) linkUnchanged(snapshot, manifest, base);
  await addChecksums(snapshot, manifest, base, signal);
  killPoint('publish.described');
  try {
    writeManifest(snapshot, manifest);
  } catch (error) {
    throw failed(`the manifest of ${snapshot} cannot be written`, error);
  }
  try {
    // Every command reads the snapshot by it.
    modellingOf(readManifest(snapshot));
  } catch (error) {
    throw failed(`the manifest of ${snapshot} cannot be read back`, error);
  }
}

/**
 * Describes tables, marts, views and files of a snapshot for its manifest. Throws PUBLISH_FAILED if a table has no file.
 * @param recorded the ids of columns that were given before
 * @param base the snapshot before, whose files this one may share
 */
export async function describeSnapshot(
  connection: DuckDBConnection,
  snapshot: string,
  schemas: ReadonlyMap<string, TableSchema>,
  marts: readonly MartFacts[],
  {
    own = systemTables,
    recorded,
    base,
  }: {
    readonly own?: readonly SystemTable[];
    readonly recorded?: IdRecords | undefined;
    readonly base?: BaseState | undefined;
  } = {},
): Promise<DescribedSnapshot> {
  const cut = [...schemas.values()].map(({ table, columns }) => ({ ...table, columns }));
  const stored = marts.filter(({ view }) => view === undefined);
  const names = [...cut, ...own, ...stored].map(({ name }) => name);
  // One statement reads the footers of all files that are new.
  const files = await listFiles(connection, snapshot, base, names);
  const computed: Described[] = [];
  for (const { name, key, was = {} } of stored) {
    const columns = await columnsOf(connection, `select * from ${writtenRelation(snapshot, name, false)}`);
    computed.push({ name, key, columns: columns.map((column) => ({ ...column, was: was[column.name] })) });
  }
  const views: Record<string, ManifestView> = byName({});
  for (const { name, view } of marts)
    if (view !== undefined)
      views[name] = { ...view, columns: await columnsOf(connection, `select * from ${identifier(name)}`) };
  const described = (tables: readonly Described[]) =>
    byName(Object.fromEntries(tables.map((table) => [table.name, describeFiles(table, files, recorded)])));
  return {
    schema_version: SCHEMA_VERSION,
    lotlake_version: version,
    tables: described([...cut, ...own]),
    marts: described(computed),
    views,
    ...(recorded === undefined ? {} : absentIn(recorded, new Set(names))),
  };
}

/** Describes a table by its files, which it finds among all files of the snapshot. */
function describeFiles(
  { name, key, columns, partition }: Described,
  all: ManifestTable['files'],
  recorded: IdRecords | undefined,
) {
  const files = all.filter(({ path }) => path.startsWith(`${name}/`));
  if (files.length === 0) throw new LotlakeError('PUBLISH_FAILED', `the snapshot has no file of ${name}`);
  return {
    ...giveIds(columns, recordIn(recorded, name), partition !== undefined),
    key: [...key],
    partitioned: partition !== undefined,
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    files,
  };
}

/**
 * Makes a snapshot the current one by renaming a symbolic link once, so that a reader sees either the old dataset or the
 * new one. Throws PUBLISH_FAILED if the snapshot has no manifest or the link cannot be switched; then the old snapshot
 * stays current.
 */
export function switchCurrent(layout: Layout, snapshot: string): void {
  if (!existsSync(join(snapshot, 'manifest.json')))
    throw new LotlakeError('PUBLISH_FAILED', `${snapshot} has no manifest and is not published`);
  makeFolder(layout.lake);
  const link = temporaryOf(layout.current);
  try {
    makeLink(join('snapshots', basename(snapshot)), link);
    killPoint('publish.link-made');
    move(link, layout.current);
  } catch (error) {
    remove(link);
    throw failed(`${layout.current} cannot be switched to ${basename(snapshot)}`, error);
  }
}
