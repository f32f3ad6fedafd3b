import type { DuckDBConnection } from '@duckdb/node-api';
import { parseMetadata, retainSnapshots, snapshotIdOf } from '../iceberg/metadata.js';
import { readMetrics } from '../iceberg/metrics.js';
import { headFiles, type MetadataFile, type PreviousMetadata, planCommit } from '../iceberg/plan.js';
import { readPrevious } from '../iceberg/previous.js';
import type { IcebergTable } from '../iceberg/schema.js';
import { type Descriptions, icebergTables, partitionValuesOf } from '../iceberg/tables.js';
import { allTables } from '../lake/manifest.js';
import type { DescribeTables, Heads } from './heads.js';
import { TABLES } from './layout.js';
import { forEach, type ObjectStore } from './store.js';

/** What describes the tables of a mirror. */
interface Describing {
  readonly connection: DuckDBConnection;
  readonly store: ObjectStore;
  readonly concurrency: number;
  readonly descriptions: readonly Descriptions[];
}

const nameOf = (store: ObjectStore, uri: string): string => uri.slice(store.place.length + 1);

const byName = <T>(
  files: readonly MetadataFile[],
  store: ObjectStore,
  of: (content: Buffer) => T,
): [string, T][] => files.map(({ uri, content }) => [nameOf(store, uri), of(content)]);

/** Name of the table that a head is of. */
const tableOf = (name: string): string => name.slice(TABLES.length).split('/')[0] ?? '';

/** Describes the tables of each snapshot that is pushed as Iceberg tables, going on from the heads that are there. */
export function describeAsIceberg(describing: Describing): DescribeTables {
  const { store, concurrency, descriptions } = describing;
  return async (snapshot, files, kept, heads) => {
    const tables = allTables(snapshot.manifest);
    const described = icebergTables(tables, descriptions);
    const previous = await readAllPrevious(described, heads, describing);
    const objects = new Map(files.map(({ path, object }) => [path, `${store.place}/${object}`]));
    const known = new Set(
      [...previous.values()].flatMap(({ entries }) => entries.map(({ data_file }) => data_file.file_path)),
    );
    const fresh = [...objects].filter(([path, uri]) => path.endsWith('.parquet') && !known.has(uri));
    const paths = fresh.map(([path]) => path);
    const metrics = await readMetrics(describing.connection, snapshot.folder, paths, tables);
    const before = new Map<string, Uint8Array>();
    const after = new Map([...heads].filter(([name]) => tables[tableOf(name)] === undefined));
    await forEach(described, concurrency, async (table) => {
      const dataFiles = (tables[table.name]?.files ?? []).map((file) => ({
        ...{ uri: objects.get(file.path) ?? '', bytes: file.bytes, rows: file.rows },
        partition: table.partitioned ? partitionValuesOf(file) : undefined,
        metrics: metrics.get(file.path),
      }));
      const time = Date.parse(snapshot.manifest.created_at);
      const commit = { id: snapshot.id, time, files: dataFiles };
      const plan = await planCommit(table, locationOf(store, table), commit, kept, previous.get(table.name));
      for (const [name, content] of byName(plan.before, store, (bytes) => bytes)) before.set(name, content);
      for (const [name, text] of byName(plan.after, store, String)) after.set(name, text);
    });
    return { before, after };
  };
}

const locationOf = (store: ObjectStore, { name }: IcebergTable): string => `${store.place}/${TABLES}${name}`;

/** The metadata of tables that the mirror has, with the entries of their manifests. */
async function readAllPrevious(
  tables: readonly IcebergTable[],
  heads: Heads,
  { store, concurrency }: Describing,
): Promise<ReadonlyMap<string, PreviousMetadata>> {
  const read = async (uri: string): Promise<Buffer | undefined> => {
    const name = nameOf(store, uri);
    const head = heads.get(name);
    if (head !== undefined) return Buffer.from(head);
    // Heads are only what the current snapshot says they are.
    return name.endsWith('.text') ? undefined : (await store.read(name))?.body;
  };
  const found = new Map<string, PreviousMetadata>();
  await forEach(tables, concurrency, async (table) => {
    const previous = await readPrevious(locationOf(store, table), read);
    if (previous !== undefined) found.set(table.name, previous);
  });
  return found;
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
    for (const head of byName(headFiles(metadata, Number(version) + 1), store, String)) retained.set(...head);
  }
  return retained;
}
