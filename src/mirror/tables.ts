import type { DuckDBConnection } from '@duckdb/node-api';
import { commitToCatalog } from '../iceberg/catalog.js';
import { parseMetadata, retainSnapshots, snapshotIdOf } from '../iceberg/metadata.js';
import { headFiles, type MetadataFile, type PreviousMetadata, readPrevious } from '../iceberg/plan.js';
import { planTables } from '../iceberg/tables.js';
import type { BaseState } from '../lake/base.js';
import { allTables, type LakeFile } from '../lake/manifest.js';
import type { Described } from '../publish/warehouse.js';
import { type Heads, readHeads } from './heads.js';
import { CATALOG, type MirrorFile, readMirror, TABLES } from './layout.js';
import type { MirrorPlace } from './s3.js';
import { forEach, type ObjectStore } from './store.js';

const nameOf = (store: ObjectStore, uri: string): string => uri.slice(store.place.length + 1);

/** What files hold by the names of their objects. */
const byName = <T>(store: ObjectStore, files: readonly MetadataFile<T>[]): [string, T][] =>
  files.map(({ uri, content }) => [nameOf(store, uri), content]);

/** Name of the table that a head is of. */
const tableOf = (name: string): string => name.slice(TABLES.length).split('/')[0] ?? '';

/** What describes the tables of each snapshot that is pushed. */
export type DescribeTables = ReturnType<typeof describeAsIceberg>;

/**
 * Describes the tables of each snapshot that is pushed as Iceberg tables, going on from the heads that made the metadata of
 * the mirror current. Gives what is sent before the switch, manifests and manifest lists under names that nobody reads
 * yet, and what after it, the heads of each table. It is called with the objects of the snapshot, and with the ids of the
 * snapshots that the mirror keeps, this one among them.
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
      // An object is named by its content.
      knownAs: uriOf,
      locationOf: (table) => locationOf(store, table),
    });
    const made = [...plans.values()];
    return {
      before: new Map(made.flatMap((plan) => byName(store, plan.before))),
      after: new Map([
        ...[...heads].filter(([name]) => tables[tableOf(name)] === undefined),
        ...made.flatMap((plan) => byName(store, plan.after)),
      ]),
    };
  };

const locationOf = (store: ObjectStore, table: string): string => `${store.place}/${TABLES}${table}`;

/** The metadata of tables that the mirror has, with the entries of their manifests. */
async function readAllPrevious(
  store: ObjectStore,
  tables: readonly string[],
  heads: Heads,
): Promise<ReadonlyMap<string, PreviousMetadata>> {
  const read = async (uri: string): Promise<Buffer | undefined> => {
    const name = nameOf(store, uri);
    const head = heads.get(name);
    if (head !== undefined) return Buffer.from(head);
    // Heads are only what the current snapshot says they are.
    return name.endsWith('.text') ? undefined : (await store.read(name))?.body;
  };
  const found = await forEach(store, tables, async (table) => {
    const previous = await readPrevious(locationOf(store, table), read);
    return previous === undefined ? [] : [[table, previous] as const];
  });
  return new Map(found.flat());
}

/**
 * Leaves the snapshots that are no longer kept out of the heads. A table without any other goes as a whole.
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
 * Makes the tables of the Iceberg REST catalog of a mirror like those that the mirror has now; null where none is
 * configured. Throws ICEBERG_CATALOG and MIRROR_*.
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
