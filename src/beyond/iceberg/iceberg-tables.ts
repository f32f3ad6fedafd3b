import type { DuckDBConnection } from '@duckdb/node-api';
import pLimit from 'p-limit';
import type { BaseState } from '../../core/lake/base.js';
import { type Field, fieldsOf, hashOf } from '../../core/lake/field-ids.js';
import { partitionOf } from '../../core/lake/files.js';
import { allTables, type LakeFile, type Manifest } from '../../core/lake/manifest.js';
import { partitionFromFolder } from '../../core/lake/partition.js';
import { lakeTables } from '../../core/lake/tables.js';
import type { Described } from '../../core/model/warehouse.js';
import type { DataFile } from './avro.js';
import { type Metrics, NO_METRICS, readMetrics } from './column-metrics.js';
import { type CommitPlan, planCommit, withEntries } from './commit-plan.js';
import type { IcebergTable } from './iceberg-schema.js';
import { type FileFacts, liveEntries, type PreviousMetadata, splitManifests } from './manifests.js';

/** Tables whose manifests are read at the same time. */
const CONCURRENCY = 8;

/** URIs of the tables and files of a snapshot, and their metadata before. */
interface Place {
  /** Ids of the snapshots of the lake that stay, besides this one. */
  readonly kept: readonly string[];
  /** URI of the folder of a table, without a slash at its end. */
  locationOf(table: string): string;
  uriOf(file: LakeFile): string;
  /** URI of the same file in the metadata before; undefined if it is not there. */
  knownAs(file: LakeFile): string | undefined;
  /** The metadata before by table. Its statistics of files are used again. */
  readonly previous: ReadonlyMap<string, PreviousMetadata>;
  /** Files of a table in the metadata before, as far as they are known without reading its manifests. */
  earlierOf?(table: string): readonly FileFacts[];
}

/**
 * Plans the metadata of all tables and marts of a snapshot on disk. Returns the plans by name of the table. Throws
 * ICEBERG_TYPE.
 */
export async function planTables(
  connection: DuckDBConnection,
  { folder, manifest }: BaseState,
  descriptions: readonly Described[],
  { kept, locationOf, uriOf, knownAs, previous, earlierOf }: Place,
): Promise<Map<string, CommitPlan>> {
  const tables = allTables(manifest);
  const { snapshot_id: id, created_at } = manifest;
  const wanted = await pLimit(CONCURRENCY).map(icebergTables(tables, descriptions), async (table) => {
    const files = (tables[table.name]?.files ?? []).map((file) => ({
      file,
      ...factsOf(table, file, uriOf(file)),
    }));
    const before = previous.get(table.name);
    const earlier = earlierOf?.(table.name);
    return { table, files, before: before && (await withEntries(before, withRows(files), earlier)) };
  });
  const known = metricsIn(wanted.flatMap(({ before }) => before ?? []));
  const metricsOf = (file: LakeFile): Metrics | undefined => known.get(knownAs(file) ?? '');
  // The manifests that stay have the statistics of their files.
  const listed = wanted.flatMap(
    ({ files, before }) => splitManifests(before?.manifests ?? [], withRows(files)).relisted,
  );
  const unknown = listed.filter(({ file }) => metricsOf(file) === undefined);
  const paths = unknown.map(({ file }) => file.path);
  const read = await readMetrics(connection, folder, paths, tables);
  const plans = wanted.map(({ table, files, before }): [string, CommitPlan] => {
    const described = files.map(
      ({ file, ...facts }): DataFile => ({
        ...(metricsOf(file) ?? read.get(file.path) ?? NO_METRICS),
        ...facts,
      }),
    );
    const made = { id, time: Date.parse(created_at), files: described };
    return [table.name, planCommit(table, locationOf(table.name), made, kept, before)];
  });
  return new Map(plans);
}

/** What an entry says of a file of a table, without its statistics. */
export const factsOf = (
  { partitioned }: Pick<IcebergTable, 'partitioned'>,
  file: LakeFile,
  uri: string,
): FileFacts => ({
  content: 0,
  file_format: 'PARQUET',
  file_path: uri,
  partition: partitioned ? partitionValuesOf(file) : {},
  record_count: file.rows,
  file_size_in_bytes: file.bytes,
});

/** Iceberg names no files without rows. */
const withRows = <T extends { readonly file: LakeFile }>(files: readonly T[]): T[] =>
  files.filter(({ file }) => file.rows > 0);

/** Statistics of files by URI. An entry of a deleted file has none, but the file may come back. */
function metricsIn(previous: readonly PreviousMetadata[]): ReadonlyMap<string, Metrics> {
  const entries = previous.flatMap(({ manifests }) => manifests.flatMap((each) => each.entries ?? []));
  return new Map(liveEntries(entries).map(({ data_file }) => [data_file.file_path, data_file]));
}

/** Tables and marts of a snapshot as Iceberg needs them. */
export function icebergTables(
  tables: Manifest['tables'],
  descriptions: readonly Described[],
): IcebergTable[] {
  return Object.entries(tables).map(([name, { columns, key, partitioned }]) => {
    const described = descriptions.find((each) => each.name === name);
    const inPath = partitioned ? [{ name: 'month', type: 'VARCHAR', field_id: hashOf('month') }] : [];
    const fields = fieldsOf({ columns }).filter((column) => column.name !== 'month' || !partitioned);
    const describe = (column: Field) => ({
      ...column,
      description: described?.columns.find((each) => each.name === column.name)?.description,
    });
    return {
      name,
      key,
      partitioned,
      description: described?.description ?? name,
      columns: [...fields, ...inPath].map(describe),
      sort: lakeTables().find((table) => table.name === name)?.sort ?? key,
    };
  });
}

/** Partition values of a file; empty if it is not in a partition, as a file without rows. */
export function partitionValuesOf(file: LakeFile): DataFile['partition'] {
  const folder = partitionOf(file);
  if (folder === '') return {};
  const { domain, month } = partitionFromFolder(folder);
  return { domain_id: domain === 'none' ? null : Number(domain), month };
}
