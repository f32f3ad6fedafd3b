import { createHash } from 'node:crypto';
import { type DataFile, encode, type ManifestEntry, STATUS } from './avro.js';
import { boundOf } from './bounds.js';
import type { TableMetadata } from './metadata.js';
import { NO_METRICS } from './metrics.js';

/** The part of a snapshot of the lake that belongs to one table. */
export interface LakeSnapshot {
  readonly id: string;
  /** Time of its creation, milliseconds since 1970. */
  readonly time: number;
  /** A file without rows is left out. */
  readonly files: readonly DataFile[];
}

/** The last metadata of a table. */
export interface PreviousMetadata {
  /** N of `vN.metadata.json`. */
  readonly version: number;
  readonly metadata: TableMetadata;
  /** Entries of the manifest of the current snapshot. */
  readonly entries: readonly ManifestEntry[];
}

/** A file to write, whole. */
export interface MetadataFile<T = Buffer> {
  readonly uri: string;
  readonly content: T;
}

/** Schemas and partition specs of a table, and which of them are current. */
type Shape = Pick<TableMetadata, 'schemas' | 'current-schema-id' | 'partition-specs' | 'default-spec-id'>;

/** Numbers of a new snapshot, which its entries have, too. */
export interface CommitNumbers {
  /** Id of the Iceberg snapshot. */
  readonly id: number;
  readonly sequence: number;
  readonly parent: number | undefined;
}

/** Entries of the manifest of a snapshot: its files, and the files of the previous snapshot that are gone. */
export function entriesOf(
  { files }: LakeSnapshot,
  { id, sequence }: CommitNumbers,
  previous: PreviousMetadata | undefined,
  sortOrder: number,
): ManifestEntry[] {
  const live = previous?.entries.filter(({ status }) => status !== STATUS.deleted) ?? [];
  const known = new Map(live.map((entry) => [entry.data_file.file_path, entry]));
  const current = files
    .filter(({ record_count }) => record_count > 0)
    .map((file): ManifestEntry => {
      const before = known.get(file.file_path);
      if (before !== undefined) return { ...before, status: STATUS.existing };
      const numbers = { snapshot_id: id, sequence_number: sequence, file_sequence_number: sequence };
      return { status: STATUS.added, ...numbers, data_file: { ...file, sort_order_id: sortOrder } };
    });
  const uris = new Set(current.map(({ data_file }) => data_file.file_path));
  const gone = live.filter(({ data_file }) => !uris.has(data_file.file_path));
  return [
    ...current,
    // No reader needs the statistics of a file that is gone.
    ...gone.map(
      ({ data_file, ...entry }): ManifestEntry => ({
        ...{ ...entry, status: STATUS.deleted, snapshot_id: id },
        data_file: { ...data_file, ...NO_METRICS },
      }),
    ),
  ];
}

/** Numbers of files, rows and bytes in a manifest by status of the entry. */
export function countsOf(entries: readonly ManifestEntry[]) {
  const count = (status: number) => {
    const files = entries.filter((entry) => entry.status === status).map(({ data_file }) => data_file);
    return {
      files: files.length,
      rows: files.reduce((sum, file) => sum + file.record_count, 0),
      bytes: files.reduce((sum, file) => sum + file.file_size_in_bytes, 0),
    };
  };
  return { existing: count(STATUS.existing), added: count(STATUS.added), deleted: count(STATUS.deleted) };
}

/**
 * Encodes the manifest and the manifest list of a snapshot.
 * @returns the files to write; the last one is the list
 */
export function encodeManifests(
  location: string,
  entries: readonly ManifestEntry[],
  numbers: CommitNumbers,
  shape: Shape,
): MetadataFile[] {
  const manifests = entries.length === 0 ? [] : [manifestOf(location, entries, numbers, shape)];
  const listed = manifests.map((manifest) => listedAs(manifest, entries, numbers, shape));
  const list = encode('manifests', listed, {
    'format-version': '2',
    'snapshot-id': String(numbers.id),
    'parent-snapshot-id': String(numbers.parent ?? null),
    'sequence-number': String(numbers.sequence),
  });
  return [...manifests, nameByHash(`${location}/metadata/snap-${numbers.id}`, list)];
}

function manifestOf(
  location: string,
  entries: readonly ManifestEntry[],
  { id }: CommitNumbers,
  shape: Shape,
): MetadataFile {
  const schema = shape.schemas.find((each) => each['schema-id'] === shape['current-schema-id']);
  const fields = currentSpec(shape);
  const content = encode(fields.length > 0 ? 'entries' : 'flatEntries', entries, {
    schema: JSON.stringify(schema),
    'schema-id': String(shape['current-schema-id']),
    'partition-spec': JSON.stringify(fields),
    'partition-spec-id': String(shape['default-spec-id']),
    'format-version': '2',
    content: 'data',
  });
  return nameByHash(`${location}/metadata/${id}-m0`, content);
}

/** A file with the hash of its content in its name, so that two plans for one snapshot never overwrite each other. */
function nameByHash(start: string, content: Buffer): MetadataFile {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { uri: `${start}-${hash}.avro`, content };
}

/** The entry of a manifest in its list. */
function listedAs(
  manifest: MetadataFile,
  entries: readonly ManifestEntry[],
  { id, sequence }: CommitNumbers,
  shape: Shape,
) {
  const { existing, added, deleted } = countsOf(entries);
  return {
    manifest_path: manifest.uri,
    manifest_length: manifest.content.length,
    partition_spec_id: shape['default-spec-id'],
    content: 0,
    sequence_number: sequence,
    min_sequence_number: Math.min(...entries.map((entry) => entry.sequence_number)),
    added_snapshot_id: id,
    ...{ added_files_count: added.files, added_rows_count: added.rows },
    ...{ existing_files_count: existing.files, existing_rows_count: existing.rows },
    ...{ deleted_files_count: deleted.files, deleted_rows_count: deleted.rows },
    partitions: currentSpec(shape).map(({ name }) => partitionRange(entries, name)),
  };
}

const currentSpec = (shape: Shape) =>
  shape['partition-specs'].find((each) => each['spec-id'] === shape['default-spec-id'])?.fields ?? [];

/** The range of a partition field in a manifest. Readers use it to skip the manifest. */
function partitionRange(entries: readonly ManifestEntry[], field: string) {
  const values = entries.map(({ data_file }) => data_file.partition[field]);
  const texts = values.filter((value) => value !== null && value !== undefined).map(String);
  const type = field === 'domain_id' ? 'long' : 'string';
  return {
    contains_null: texts.length < values.length,
    lower_bound: boundOf(texts, type, 'lower') ?? null,
    upper_bound: boundOf(texts, type, 'upper') ?? null,
  };
}
