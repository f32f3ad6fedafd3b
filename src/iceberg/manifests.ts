import { createHash } from 'node:crypto';
import { encodeManifest, encodeManifestList, type ManifestEntry, type ManifestFile, STATUS } from './avro.js';
import { boundOf } from './bounds.js';
import type { Shape } from './evolve.js';
import type { DataFile, LakeSnapshot, MetadataFile, PreviousMetadata } from './plan.js';

/** Numbers that a new snapshot gives to its entries. */
export interface CommitNumbers {
  /** Id of the Iceberg snapshot. */
  readonly id: number;
  readonly sequence: number;
  readonly parent: number | undefined;
}

const NO_METRICS = { value_counts: [], null_value_counts: [], lower_bounds: [], upper_bounds: [] };

/** Entries of the manifest of a snapshot: its files, and the files of the previous snapshot that it has no more. */
export function entriesOf(
  { files }: LakeSnapshot,
  { id, sequence }: CommitNumbers,
  previous: PreviousMetadata | undefined,
  sortOrder: number,
): ManifestEntry[] {
  const live = previous?.entries.filter(({ status }) => status !== STATUS.deleted) ?? [];
  const known = new Map(live.map((entry) => [entry.data_file.file_path, entry]));
  const current = files
    .filter(({ rows }) => rows > 0)
    .map((file): ManifestEntry => {
      const before = known.get(file.uri);
      if (before !== undefined) return { ...before, status: STATUS.existing };
      const numbers = { snapshot_id: id, sequence_number: sequence, file_sequence_number: sequence };
      return { status: STATUS.added, ...numbers, data_file: dataFileOf(file, sortOrder) };
    });
  const uris = new Set(current.map(({ data_file }) => data_file.file_path));
  const gone = live.filter(({ data_file }) => !uris.has(data_file.file_path));
  return [
    ...current,
    // Nobody reads the statistics of a file that is gone.
    ...gone.map(
      ({ data_file, ...entry }): ManifestEntry => ({
        ...{ ...entry, status: STATUS.deleted, snapshot_id: id },
        data_file: { ...data_file, ...NO_METRICS },
      }),
    ),
  ];
}

const dataFileOf = (file: DataFile, sortOrder: number): ManifestEntry['data_file'] => ({
  ...(file.metrics ?? NO_METRICS),
  content: 0,
  file_path: file.uri,
  file_format: 'PARQUET',
  partition: file.partition ?? {},
  record_count: file.rows,
  file_size_in_bytes: file.bytes,
  sort_order_id: sortOrder,
});

/**
 * Makes the manifest and the manifest list of a snapshot.
 * @returns the files to write; the last one is the list
 */
export function writeManifests(
  location: string,
  entries: readonly ManifestEntry[],
  numbers: CommitNumbers,
  shape: Shape,
): MetadataFile[] {
  const manifests: MetadataFile[] = [];
  const listed: ManifestFile[] = [];
  if (entries.length > 0) {
    const manifest = manifestOf(location, entries, numbers, shape);
    manifests.push(manifest);
    listed.push(listedAs(manifest, entries, numbers, shape));
  }
  const list = encodeManifestList(listed, {
    'format-version': '2',
    'snapshot-id': String(numbers.id),
    'parent-snapshot-id': String(numbers.parent ?? null),
    'sequence-number': String(numbers.sequence),
  });
  return [...manifests, named(`${location}/metadata/snap-${numbers.id}`, list)];
}

function manifestOf(
  location: string,
  entries: readonly ManifestEntry[],
  { id }: CommitNumbers,
  shape: Shape,
): MetadataFile {
  const schema = shape.schemas.find((each) => each['schema-id'] === shape['current-schema-id']);
  const fields = currentSpec(shape);
  const content = encodeManifest(entries, fields.length > 0, {
    schema: JSON.stringify(schema),
    'schema-id': String(shape['current-schema-id']),
    'partition-spec': JSON.stringify(fields),
    'partition-spec-id': String(shape['default-spec-id']),
    'format-version': '2',
    content: 'data',
  });
  return named(`${location}/metadata/${id}-m0`, content);
}

/** A file whose name tells its content, so that two plans for one snapshot never overwrite each other. */
function named(start: string, content: Buffer): MetadataFile {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { uri: `${start}-${hash}.avro`, content };
}

function listedAs(
  manifest: MetadataFile,
  entries: readonly ManifestEntry[],
  { id, sequence }: CommitNumbers,
  shape: Shape,
): ManifestFile {
  const [existing, added, deleted] = [STATUS.existing, STATUS.added, STATUS.deleted].map((status) => {
    const of = entries.filter((entry) => entry.status === status);
    return { files: of.length, rows: of.reduce((sum, { data_file }) => sum + data_file.record_count, 0) };
  });
  return {
    manifest_path: manifest.uri,
    manifest_length: manifest.content.length,
    partition_spec_id: shape['default-spec-id'],
    content: 0,
    sequence_number: sequence,
    min_sequence_number: Math.min(...entries.map((entry) => entry.sequence_number)),
    added_snapshot_id: id,
    ...{ added_files_count: added?.files ?? 0, added_rows_count: added?.rows ?? 0 },
    ...{ existing_files_count: existing?.files ?? 0, existing_rows_count: existing?.rows ?? 0 },
    ...{ deleted_files_count: deleted?.files ?? 0, deleted_rows_count: deleted?.rows ?? 0 },
    partitions: currentSpec(shape).map(({ name }) => partitionRange(entries, name)),
  };
}

const currentSpec = (shape: Shape) =>
  shape['partition-specs'].find((each) => each['spec-id'] === shape['default-spec-id'])?.fields ?? [];

/** The values of a partition field in a manifest, by which readers skip it. */
function partitionRange(
  entries: readonly ManifestEntry[],
  field: string,
): ManifestFile['partitions'][number] {
  const values = entries.map(({ data_file: { partition } }) =>
    field === 'domain_id' ? partition.domain_id : partition.month,
  );
  const texts = values.filter((value) => value !== null && value !== undefined).map(String);
  const type = field === 'domain_id' ? 'long' : 'string';
  return {
    contains_null: texts.length < values.length,
    lower_bound: boundOf(texts, type, 'lower') ?? null,
    upper_bound: boundOf(texts, type, 'upper') ?? null,
  };
}
