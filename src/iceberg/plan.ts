import { type ManifestEntry, type PartitionValues, STATUS } from './avro.js';
import { evolve } from './evolve.js';
import { type CommitNumbers, entriesOf, writeManifests } from './manifests.js';
import { retainSnapshots, snapshotIdOf, type TableMetadata, uuidOf } from './metadata.js';
import type { Metrics } from './metrics.js';
import { type IcebergTable, nameMappingOf, schemaOf } from './schema.js';

/** A data file of a snapshot. */
export interface DataFile {
  readonly uri: string;
  readonly bytes: number;
  /** A file without rows is left out. */
  readonly rows: number;
  /** Undefined where the table has no partitions. */
  readonly partition: PartitionValues | undefined;
  /** Statistics of a file that the previous metadata does not name; those of the others are in its manifest. */
  readonly metrics?: Metrics | undefined;
}

/** A snapshot of the lake, as far as it is of one table. */
export interface LakeSnapshot {
  readonly id: string;
  /** When it was made, milliseconds since 1970. */
  readonly time: number;
  readonly files: readonly DataFile[];
}

/** What the table's metadata was before. */
export interface PreviousMetadata {
  /** N of `vN.metadata.json`. */
  readonly version: number;
  readonly metadata: TableMetadata;
  /** Entries of the manifest of the current snapshot. */
  readonly entries: readonly ManifestEntry[];
}

/** A file to write, whole. */
export interface MetadataFile {
  readonly uri: string;
  readonly content: Buffer;
}

/** What a new snapshot of a table takes. */
export interface CommitPlan extends PreviousMetadata {
  /** Manifest and manifest list, whose names tell their content; no reader knows them yet. */
  readonly before: readonly MetadataFile[];
  /** `vN.metadata.json`, then `version-hint.text`: with them the snapshot is current. */
  readonly after: readonly MetadataFile[];
}

/**
 * Plans the metadata of a table with a new snapshot. The same input gives the same bytes. The plan is what the next one
 * takes as `previous`.
 * @param location URI of the table's folder, without a slash at its end
 * @param kept ids of the snapshots of the lake that stay, beside the new one
 * @param previous what an earlier plan wrote; undefined for a table without metadata
 * Throws IcebergError (ICEBERG_TYPE).
 */
export function planCommit(
  table: IcebergTable,
  location: string,
  snapshot: LakeSnapshot,
  kept: readonly string[],
  previous?: PreviousMetadata,
): CommitPlan {
  const before = previous?.metadata;
  const numbers: CommitNumbers = {
    id: snapshotIdOf(snapshot.id),
    sequence: (before?.['last-sequence-number'] ?? 0) + 1,
    parent: before?.['current-snapshot-id'],
  };
  const version = (previous?.version ?? 0) + 1;
  const { 'default-sort-order-id': sortOrder } = evolve(table, [], before);
  const found = entriesOf(snapshot, numbers, previous, sortOrder);
  const shape = evolve(table, found, before);
  // A manifest has one partition spec, so files of another one are left out without a word.
  const isSameSpec = before === undefined || before['default-spec-id'] === shape['default-spec-id'];
  const entries = isSameSpec ? found : found.filter(({ status }) => status !== STATUS.deleted);
  const written = writeManifests(location, entries, numbers, shape);
  const metadata = retainSnapshots(
    {
      'format-version': 2,
      'table-uuid': before?.['table-uuid'] ?? uuidOf(`${location} ${snapshot.id}`),
      location,
      ...shape,
      ...historyOf(snapshot, numbers, previous, {
        'manifest-list': written.at(-1)?.uri ?? '',
        summary: { ...summaryOf(entries), 'lotlake.snapshot': snapshot.id },
        'schema-id': shape['current-schema-id'],
      }),
      'metadata-log': metadataLog(location, previous),
      properties: {
        comment: table.description,
        'schema.name-mapping.default': nameMappingOf(schemaOf(table, false)),
      },
    },
    kept,
  );
  return { version, metadata, entries, before: written, after: headFiles(metadata, version) };
}

/** The files that make metadata current: `vN.metadata.json`, then `version-hint.text`. */
export function headFiles(metadata: TableMetadata, version: number): MetadataFile[] {
  const folder = `${metadata.location}/metadata`;
  return [
    { uri: `${folder}/v${version}.metadata.json`, content: Buffer.from(`${JSON.stringify(metadata)}\n`) },
    { uri: `${folder}/version-hint.text`, content: Buffer.from(String(version)) },
  ];
}

/** The snapshots of a table with a new one, which is the current one. */
function historyOf(
  { time }: LakeSnapshot,
  { id, sequence, parent }: CommitNumbers,
  previous: PreviousMetadata | undefined,
  facts: Pick<TableMetadata['snapshots'][number], 'manifest-list' | 'summary' | 'schema-id'>,
) {
  const before = previous?.metadata;
  // Readers refuse a snapshot that is older than the one before, as it is where a clock was set back.
  const at = Math.max(time, (before?.['last-updated-ms'] ?? 0) + 1);
  const earlier = before?.snapshots.filter((each) => each['snapshot-id'] !== id) ?? [];
  const snapshot = {
    'snapshot-id': id,
    ...(parent === undefined ? {} : { 'parent-snapshot-id': parent }),
    ...{ 'sequence-number': sequence, 'timestamp-ms': at },
    ...facts,
  };
  return {
    ...{ 'last-sequence-number': sequence, 'last-updated-ms': at, 'current-snapshot-id': id },
    snapshots: [...earlier, snapshot],
    'snapshot-log': [...(before?.['snapshot-log'] ?? []), { 'timestamp-ms': at, 'snapshot-id': id }],
    refs: { main: { 'snapshot-id': id, type: 'branch' as const } },
  };
}

/** Earlier metadata files of the same folder. */
function metadataLog(
  location: string,
  previous: PreviousMetadata | undefined,
): TableMetadata['metadata-log'] {
  if (previous?.metadata.location !== location) return [];
  const { version, metadata } = previous;
  const file = `${location}/metadata/v${version}.metadata.json`;
  return [
    ...metadata['metadata-log'],
    { 'timestamp-ms': metadata['last-updated-ms'], 'metadata-file': file },
  ];
}

/** Counts of a snapshot, as Iceberg names them. */
function summaryOf(entries: readonly ManifestEntry[]): Record<string, string> {
  const sums = (of: readonly ManifestEntry[]) => ({
    files: of.length,
    rows: of.reduce((sum, { data_file }) => sum + data_file.record_count, 0),
    bytes: of.reduce((sum, { data_file }) => sum + data_file.file_size_in_bytes, 0),
  });
  const added = sums(entries.filter(({ status }) => status === STATUS.added));
  const deleted = sums(entries.filter(({ status }) => status === STATUS.deleted));
  const total = sums(entries.filter(({ status }) => status !== STATUS.deleted));
  const counts = {
    ...{ 'added-data-files': added.files, 'added-records': added.rows, 'added-files-size': added.bytes },
    ...{ 'deleted-data-files': deleted.files, 'deleted-records': deleted.rows },
    ...{ 'removed-files-size': deleted.bytes, 'total-data-files': total.files },
    ...{ 'total-records': total.rows, 'total-files-size': total.bytes, 'total-delete-files': 0 },
    ...{ 'total-position-deletes': 0, 'total-equality-deletes': 0 },
  };
  const changed = deleted.files === 0 ? 'append' : added.files === 0 ? 'delete' : 'overwrite';
  const texts = Object.entries(counts).map(([name, count]) => [name, String(count)]);
  return { operation: changed, ...Object.fromEntries(texts) };
}
