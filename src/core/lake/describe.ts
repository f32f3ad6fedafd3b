import type { DuckDBConnection } from '@duckdb/node-api';
import { byName } from '../../base/config/json.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { version } from '../../base/config/package-root.js';
import { identifier } from '../../base/duck/session.js';
import type { BaseState } from './base.js';
import { foldersBelow, syncFiles, syncFolders } from './disk.js';
import { absentIn, giveIds, type IdRecords, recordIn, type WantedColumn } from './field-ids.js';
import { writtenRelation } from './files.js';
import { listFiles, ownFiles } from './linked-files.js';
import { type Manifest, type ManifestTable, type ManifestView, SCHEMA_VERSION } from './manifest.js';
import { type Column, columnsOf, type TableSchema } from './schema.js';
import { type SystemTable, systemTables } from './tables.js';

export const publishFailed = (
  what: string,
  cause: unknown,
  advice = 'run the same command again',
): LotlakeError =>
  new LotlakeError('PUBLISH_FAILED', `${what}: ${messageOf(cause)}`, {
    cause,
    hint: `the last snapshot stays current; ${advice}`,
  });

/** A mart before its files are described. */
interface MartFacts {
  readonly name: string;
  readonly key: readonly string[];
  /** What a view is; undefined if the mart is a file. */
  readonly view?: Omit<ManifestView, 'columns'>;
  /** Earlier names of columns by their names. */
  readonly was?: Readonly<Record<string, string | undefined>>;
}

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
    throw publishFailed(`${snapshot} cannot be synced`, error, advice);
  }
  return new Set([...before, ...files, ...folders]);
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
