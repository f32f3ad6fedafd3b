import type { DuckDBConnection } from '@duckdb/node-api';
import { commitToCatalog } from '../iceberg/catalog.js';
import type { MetadataFile, PreviousMetadata } from '../iceberg/manifests.js';
import { parseMetadata, retainSnapshots, snapshotIdOf } from '../iceberg/metadata.js';
import { headFiles, readPrevious } from '../iceberg/plan.js';
import { planTables } from '../iceberg/tables.js';
import type { BaseState } from '../lake/base.js';
import { allTables, type LakeFile } from '../lake/manifest.js';
import type { Described } from '../publish/warehouse.js';
import { type Heads, readHeads } from './heads.js';
import { CATALOG, type MirrorFile, type MirrorPlace, readMirror, TABLES } from './layout.js';
import { forEach, type ObjectStore } from './store.js';

const nameOf = (store: ObjectStore, uri: string): string => uri.slice(store.place.length + 1);

/** Contents of files by name of the object. */
const byName = <T>(store: ObjectStore, files: readonly MetadataFile<T>[]): [string, T][] =>
  files.map(({ uri, content }) => [nameOf(store, uri), content]);

/** Name of the table of a head. */
const tableOf = (name: string): string => name.slice(TABLES.length).split('/')[0] ?? '';

/** Describes the tables of a snapshot that is pushed. */
export type DescribeTables = ReturnType<typeof describeAsIceberg>;

/**
 * Returns a function that describes the tables of a snapshot as Iceberg tables, continuing from the heads of the mirror. Its
 * arguments are the snapshot, its objects, the ids of the snapshots that the mirror keeps, with this one, and those heads.
 * It returns the names of all manifests and manifest lists that the snapshot needs; those to send before the switch, which
 * nobody reads yet; and what to send after it, the new heads.
 */
export const describeAsIceberg =
  (connection: DuckDBConnection, store: ObjectStore, descriptions: readonly Described[]) =>
  async (snapshot: BaseState, files: readonly MirrorFile[], kept: readonly string[], heads: Heads) => {
    const tables = allTables(snapshot.manifest);
    const previous = await readAllPrevious(store, Object.keys(tables), heads);
    const objects = new Map(files.map(({ path, object }) => [path, `${store.place}/${object}`]));
    const uriOf = ({ path }: LakeFile): string => objects.get(path) ?? '';
    const plans = await planTables(connection, snapshot, descriptions, {
      kept,
      previous,
      uriOf,
      // The same content has the same object.
      knownAs: uriOf,
      locationOf: (table) => locationOf(store, table),
    });
    const made = [...plans.values()];
    return {
      named: made.flatMap((plan) => plan.named.map((uri) => nameOf(store, uri))),
      before: new Map(made.flatMap((plan) => byName(store, plan.before))),
      after: new Map([
        ...[...heads].filter(([name]) => tables[tableOf(name)] === undefined),
        ...made.flatMap((plan) => byName(store, plan.after)),
      ]),
    };
  };

const locationOf = (store: ObjectStore, table: string): string => `${store.place}/${TABLES}${table}`;

/** The metadata of the tables of a mirror, with the entries of their manifests. */
async function readAllPrevious(
  store: ObjectStore,
  tables: readonly string[],
  heads: Heads,
): Promise<ReadonlyMap<string, PreviousMetadata>> {
  const read = async (uri: string): Promise<Buffer | undefined> => {
    const name = nameOf(store, uri);
    const head = heads.get(name);
    if (head !== undefined) return Buffer.from(head);
    // A hint in the mirror may be older than the heads.
    return name.endsWith('.text') ? undefined : (await store.read(name))?.body;
  };
  const found = await forEach(store, tables, async (table) => {
    const previous = await readPrevious(locationOf(store, table), read);
    return previous === undefined ? [] : [[table, previous] as const];
  });
  return new Map(found.flat());
}

/**
 * Removes the snapshots that are no longer kept from the heads. A table without any other snapshot is removed.
 * @param kept ids of the snapshots of the lake that stay
 */
export function retainHeads(store: ObjectStore, heads: Heads, kept: readonly string[]): Heads {
  const ids = new Set(kept.map(snapshotIdOf));
  const retained = new Map<string, string>();
  for (const [name, text] of heads) {
    const [, version] = /\/v(\d+)\.metadata\.json$/.exec(name) ?? [];
    if (version === undefined) continue;
    const before = parseMetadata(text, `${store.place}/${name}`);
    if (!before.snapshots.some((each) => ids.has(each['snapshot-id']))) continue;
    const metadata = retainSnapshots(before, kept);
    for (const head of byName(store, headFiles(metadata, Number(version) + 1))) retained.set(...head);
  }
  return retained;
}

/**
 * Updates the tables of the Iceberg REST catalog from the mirror; null if no catalog is configured. Throws ICEBERG_CATALOG
 * and MIRROR_*.
 */
export async function updateCatalog({ catalog }: MirrorPlace, store: ObjectStore, env: NodeJS.ProcessEnv) {
  if (catalog === undefined) return null;
  const { current } = await readMirror(store);
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
