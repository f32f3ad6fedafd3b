import { createHash } from 'node:crypto';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { BaseState } from '../../core/lake/base.js';
import {
  allTables,
  type LakeFile,
  type Manifest,
  type ManifestTable,
  manifestFrom,
} from '../../core/lake/manifest.js';
import type { Described } from '../../core/model/warehouse.js';
import { headFiles, readPrevious } from '../iceberg/commit-plan.js';
import { factsOf, icebergTables, planTables } from '../iceberg/iceberg-tables.js';
import type { FileFacts, MetadataFile, PreviousMetadata } from '../iceberg/manifests.js';
import { parseMetadata, retainSnapshots, type TableMetadata } from '../iceberg/metadata.js';
import { commitToCatalog } from '../iceberg/rest-catalog.js';
import { type Heads, headOf, isHint, readHeads } from './heads.js';
import {
  CATALOG,
  existing,
  findRecord,
  type MirrorFile,
  type MirrorPlace,
  readCurrent,
  recordName,
  type SnapshotRecord,
  TABLES,
  type TableStates,
} from './mirror-layout.js';
import { forEach, type ObjectStore } from './store.js';

const nameOf = (store: ObjectStore, uri: string): string => uri.slice(store.place.length + 1);

/** Contents of files by name of the object. */
const byName = <T>(store: ObjectStore, files: readonly MetadataFile<T>[]): [string, T][] =>
  files.map(({ uri, content }) => [nameOf(store, uri), content]);

const tableOf = (name: string): string => headOf(name)?.table ?? '';

/** The current metadata of each table of the heads, as text. */
function metadataIn(heads: Heads): ReadonlyMap<string, string> {
  const texts = [...heads].filter(([name]) => !isHint(name));
  return new Map(texts.map(([name, text]) => [tableOf(name), text]));
}

/** Member of the summary of a snapshot without rows, because the lake has no such table since then. */
const ABSENT = 'lotlake.absent_since';

const isAbsent = ({ summary }: TableMetadata['snapshots'][number]): boolean => summary[ABSENT] !== undefined;

const currentOf = ({ snapshots, 'current-snapshot-id': id }: TableMetadata) =>
  snapshots.find((each) => each['snapshot-id'] === id);

/** The mirror that a snapshot of the lake is added to. */
interface Before {
  readonly heads: Heads;
  readonly states: TableStates;
  /** Record of its current snapshot. */
  readonly record: SnapshotRecord | undefined;
}

/** The description of the tables of a snapshot. */
export interface DescribedTables {
  /** Names of all manifests and manifest lists that the described tables need. */
  readonly named: readonly string[];
  /** Those of them to send before the switch, under names that nobody reads yet. */
  readonly before: ReadonlyMap<string, Buffer>;
  /** All heads, which become current after the switch. */
  readonly heads: Heads;
  /** Hashes of the tables that were described anew; undefined for a table that the snapshot lacks. */
  readonly contents: ReadonlyMap<string, string | undefined>;
}

/** Describes the tables of a snapshot that is pushed. Its arguments are the snapshot, its objects, and the mirror. */
export type DescribeTables = (
  snapshot: BaseState,
  files: readonly MirrorFile[],
  before: Before,
) => Promise<DescribedTables>;

/**
 * Returns a function that describes the tables of a snapshot as Iceberg tables, continuing from the heads of the mirror. A
 * table with the same objects and columns as before keeps its metadata. A table that the snapshot lacks ends: its metadata
 * gets a snapshot without rows.
 */
export const describeAsIceberg =
  (connection: DuckDBConnection, store: ObjectStore, descriptions: readonly Described[]): DescribeTables =>
  async (snapshot, files, before) => {
    const { heads, states } = before;
    const objects = new Map(files.map(({ path, object }) => [path, `${store.place}/${object}`]));
    const uriOf = ({ path }: LakeFile): string => objects.get(path) ?? '';
    const known = metadataIn(heads);
    const tables = allTables(snapshot.manifest);
    const contents = contentsOf(tables, descriptions, uriOf);
    const isChanged = (name: string): boolean =>
      !known.has(name) || states[name]?.content !== contents.get(name);
    const changed = Object.entries(tables).filter(([name]) => isChanged(name));
    const earlier = tablesIn(before.record);
    const ended = await endedTables(store, before, earlier, tables);
    const described = new Map(changed);
    for (const [name, { table }] of ended) described.set(name, table);
    const previous = await readAllPrevious(store, [...described.keys()], before);
    const manifest = { ...snapshot.manifest, tables: Object.fromEntries(described), marts: {} };
    const words = [...[...ended.values()].map((each) => each.description), ...descriptions];
    const plans = await planTables(connection, { folder: snapshot.folder, manifest }, words, {
      // A vacuum decides which snapshots go.
      kept: [...previous.values()].flatMap(({ metadata }) => metadata.snapshots.map(lakeSnapshotOf)),
      previous,
      earlierOf: earlierFiles(store, before.record, earlier),
      uriOf,
      // The same content has the same object.
      knownAs: uriOf,
      locationOf: (table) => locationOf(store, table),
    });
    const after = [...plans].flatMap(([name, { metadata, version }]) => {
      const newest = known.has(name) ? version : (states[name]?.version ?? 0) + 1;
      return byName(store, headFiles(ended.has(name) ? asAbsent(metadata) : metadata, newest));
    });
    return {
      named: [...plans.values()].flatMap((plan) => plan.named.map((uri) => nameOf(store, uri))),
      before: new Map([...plans.values()].flatMap((plan) => byName(store, plan.before))),
      heads: new Map([...[...heads].filter(([name]) => !plans.has(tableOf(name))), ...after]),
      contents: new Map(
        [...plans.keys()].map((name) => [name, ended.has(name) ? undefined : contents.get(name)]),
      ),
    };
  };

/** Hash of the objects, columns and descriptions of each table. */
function contentsOf(
  tables: Manifest['tables'],
  descriptions: readonly Described[],
  uriOf: (file: LakeFile) => string,
): ReadonlyMap<string, string> {
  return new Map(
    icebergTables(tables, descriptions).map((table) => {
      const uris = tables[table.name]?.files.map(uriOf).sort();
      return [
        table.name,
        createHash('sha256')
          .update(JSON.stringify([table, uris]))
          .digest('hex'),
      ];
    }),
  );
}

/** Tables of the mirror that a snapshot lacks and that still have rows, without files, and their descriptions. */
async function endedTables(
  store: ObjectStore,
  { heads, states }: Before,
  earlier: Manifest['tables'],
  tables: Manifest['tables'],
) {
  const ended = new Map<string, { table: ManifestTable; description: Described }>();
  for (const [name, text] of metadataIn(heads)) {
    const metadata = parseMetadata(text, `${store.place}/${TABLES}${name}`);
    const current = currentOf(metadata);
    if (tables[name] !== undefined || current === undefined || isAbsent(current)) continue;
    const night = states[name]?.night ?? '';
    const table = earlier[name] ?? tablesIn(await findRecord(store, night))[name];
    if (table === undefined) continue;
    const empty = { ...table, rows: 0, bytes: 0, files: [] };
    ended.set(name, { table: empty, description: wordsOf(name, metadata) });
  }
  return ended;
}

/** The tables and marts of a snapshot in the mirror; none if there is no such snapshot. */
const tablesIn = (record: SnapshotRecord | undefined): Manifest['tables'] =>
  record === undefined ? {} : allTables(manifestFrom(record.manifest, recordName(record.snapshot_id)));

/** Returns a function that finds the files with rows of a table in a snapshot of the mirror. */
function earlierFiles(
  store: ObjectStore,
  record: SnapshotRecord | undefined,
  tables: Manifest['tables'],
): (table: string) => readonly FileFacts[] {
  const objects = new Map(record?.files.map(({ path, object }) => [path, `${store.place}/${object}`]));
  return (name) => {
    const table = tables[name];
    const files = table?.files.filter(({ rows }) => rows > 0) ?? [];
    return table === undefined ? [] : files.map((file) => factsOf(table, file, objects.get(file.path) ?? ''));
  };
}

/** The descriptions of a table in its metadata. */
function wordsOf(name: string, metadata: TableMetadata): Described {
  const schema = metadata.schemas.find((each) => each['schema-id'] === metadata['current-schema-id']);
  const columns = schema?.fields.map((field) => ({ name: field.name, description: field.doc ?? '' })) ?? [];
  return { name, grain: '', description: metadata.properties.comment ?? name, columns };
}

/** Marks the current snapshot of metadata as one of a table that the lake lacks. */
function asAbsent(metadata: TableMetadata): TableMetadata {
  const id = metadata['current-snapshot-id'];
  const snapshots = metadata.snapshots.map((each) =>
    each['snapshot-id'] === id
      ? { ...each, summary: { ...each.summary, operation: 'delete', [ABSENT]: lakeSnapshotOf(each) } }
      : each,
  );
  return { ...metadata, snapshots };
}

/** Id of the snapshot of the lake that a snapshot of a table is of. */
const lakeSnapshotOf = ({ summary }: TableMetadata['snapshots'][number]): string =>
  summary['lotlake.snapshot'] ?? '';

const locationOf = (store: ObjectStore, table: string): string => `${store.place}/${TABLES}${table}`;

/** The metadata of the tables of a mirror, with the entries of their manifests. */
async function readAllPrevious(
  store: ObjectStore,
  tables: readonly string[],
  { heads, record }: Pick<Before, 'heads' | 'record'>,
): Promise<ReadonlyMap<string, PreviousMetadata>> {
  const read = async (uri: string): Promise<Buffer | undefined> => {
    const name = nameOf(store, uri);
    const head = heads.get(name);
    if (head !== undefined) return Buffer.from(head);
    const list = record?.lists?.[name];
    if (list !== undefined) return Buffer.from(list, 'base64');
    // A hint in the mirror may be older than the heads.
    return isHint(name) ? undefined : (await store.read(name))?.body;
  };
  const found = await forEach(store, tables, async (table) => {
    const previous = await readPrevious(locationOf(store, table), read);
    return previous === undefined ? [] : [[table, previous] as const];
  });
  return new Map(found.flat());
}

/**
 * Removes the snapshots that no kept record describes from the heads. A table of which no other snapshot has rows is
 * removed. A table that loses nothing keeps its version.
 * @param named names of the Iceberg manifests and lists that the kept records name
 */
export function retainHeads(store: ObjectStore, heads: Heads, named: ReadonlySet<string>): Heads {
  const retained = new Map<string, string>();
  for (const [name, text] of heads) {
    const { table, version = null } = headOf(name) ?? {};
    if (table === undefined || version === null) continue;
    const before = parseMetadata(text, `${store.place}/${name}`);
    const staying = before.snapshots.filter((each) => named.has(nameOf(store, each['manifest-list'])));
    if (staying.every(isAbsent)) continue;
    const metadata = retainSnapshots(before, staying.map(lakeSnapshotOf));
    const isSame = metadata.snapshots.length === before.snapshots.length;
    for (const [head, content] of byName(store, headFiles(metadata, isSame ? version : version + 1)))
      retained.set(head, isSame && head === name ? text : content);
  }
  return retained;
}

/**
 * Updates the tables of the Iceberg REST catalog from the mirror; null if no catalog is configured. Throws ICEBERG_CATALOG
 * and MIRROR_*.
 */
export async function updateCatalog({ catalog }: MirrorPlace, store: ObjectStore, env: NodeJS.ProcessEnv) {
  if (catalog === undefined) return null;
  const { current } = existing(await readCurrent(store), store);
  const entries = [...(await readHeads(store, current))]
    .filter(([object]) => object.endsWith('.metadata.json'))
    .map(([object, text]) => {
      const name = tableOf(object);
      const metadataUri = `${store.place}/${object}`;
      const metadata = parseMetadata(text, metadataUri);
      return { name, metadataUri, metadata, folder: `${store.place}/${CATALOG}${name}` };
    });
  return commitToCatalog(catalog, env.LOTLAKE_CATALOG_TOKEN || undefined, entries);
}
