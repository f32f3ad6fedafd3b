import { createHash } from 'node:crypto';
import { type DataFile, encode, type ListedManifest, type ManifestEntry, STATUS } from './avro.js';
import { boundOf } from './bounds.js';
import { type Metrics, NO_METRICS } from './column-metrics.js';
import type { TableMetadata } from './metadata.js';

/** The part of a snapshot of the lake that belongs to one table. */
export interface LakeSnapshot {
  readonly id: string;
  /** Time of its creation, milliseconds since 1970. */
  readonly time: number;
  /** A file without rows is left out. */
  readonly files: readonly DataFile[];
}

/** A manifest of a snapshot, as its list names it. */
export interface KnownManifest {
  readonly listed: ListedManifest;
  /** Undefined as long as it was not read. */
  readonly entries?: readonly ManifestEntry[] | undefined;
}

/** The last metadata of a table. */
export interface PreviousMetadata {
  /** N of `vN.metadata.json`. */
  readonly version: number;
  readonly metadata: TableMetadata;
  /** Manifests of the current snapshot. */
  readonly manifests: readonly KnownManifest[];
  /** Reads a whole file; returns undefined if there is none. Undefined for a plan, whose new manifests are known. */
  readonly read?: ((uri: string) => Promise<Buffer | undefined>) | undefined;
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

/** What tells the group of a file: a member of {@link DataFile}. */
export type Placed = Pick<DataFile, 'file_path' | 'partition'>;

/**
 * The files of a group share a manifest: those of a quarter of a year, of all sources. A table without partitions is one
 * group.
 */
function groupOf({ partition: { month } }: Pick<DataFile, 'partition'>): string {
  const [, year, number] = /^(\d{4})-(\d\d)$/.exec(String(month)) ?? [];
  if (year === undefined) return month === undefined ? 'all' : 'other';
  return `${year}q${Math.ceil(Number(number) / 3)}`;
}

/** Items by the group of their file, in the order of the groups' names. */
function byGroup<T>(items: readonly T[], fileOf: (item: T) => Pick<DataFile, 'partition'>): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groupOf(fileOf(item));
    groups.set(group, [...(groups.get(group) ?? []), item]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

const hashOf = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 16);

/** Name of the manifest of a group, without the hash of its content: it says which files the manifest has. */
const nameOf = (group: string, files: readonly Placed[]): string =>
  `${group}-${hashOf(
    files
      .map(({ file_path }) => file_path)
      .sort()
      .join('\n'),
  )}`;

/** The group and files that the name of a manifest says. */
const nameIn = ({ listed }: KnownManifest): string =>
  /\/([^/]+)-[0-9a-f]{16}\.avro$/.exec(listed.manifest_path)?.[1] ?? '';

/** Whether a URI is that of a manifest list. */
export const isManifestList = (uri: string): boolean => /\/snap-[^/]+\.avro$/.test(uri);

/**
 * Splits the manifests of the previous snapshot by the files of the next: those that stay, because their group has the same
 * files, and those that are outdated. The files of groups without such a manifest are `relisted`.
 */
export function splitManifests<T extends Placed>(manifests: readonly KnownManifest[], files: readonly T[]) {
  const groups = new Map(byGroup(files, (file) => file).map(([group, all]) => [nameOf(group, all), all]));
  const staying: KnownManifest[] = [];
  const outdated: KnownManifest[] = [];
  for (const manifest of manifests) {
    (groups.delete(nameIn(manifest)) ? staying : outdated).push(manifest);
  }
  return { staying, outdated, relisted: [...groups.values()].flat() };
}

/** Whether a manifest names a file of its snapshot, and not only files that are gone. */
export const hasFiles = ({ listed }: KnownManifest): boolean =>
  listed.added_files_count + listed.existing_files_count > 0;

/** What an entry says of a file without reading it. */
export type FileFacts = Omit<DataFile, keyof Metrics>;

/**
 * The live entries of a manifest, without statistics, if they follow from its place in the list: all of its files are gone,
 * and its own snapshot added them all. Undefined if the manifest must be read.
 * @param earlier files of the snapshot that lists it
 * @param files files of the next snapshot
 */
export function entriesOfGone(
  manifest: KnownManifest,
  earlier: readonly FileFacts[],
  files: readonly Placed[],
  sortOrder: number,
): ManifestEntry[] | undefined {
  const { existing_files_count, added_snapshot_id, sequence_number } = manifest.listed;
  const own = byGroup(earlier, (file) => file).find(
    ([group, all]) => nameOf(group, all) === nameIn(manifest),
  );
  if (own === undefined || existing_files_count > 0) return undefined;
  const uris = new Set(files.map(({ file_path }) => file_path));
  if (own[1].some(({ file_path }) => uris.has(file_path))) return undefined;
  return own[1].map((file) => ({
    status: STATUS.added,
    snapshot_id: added_snapshot_id,
    sequence_number,
    file_sequence_number: sequence_number,
    data_file: { ...file, ...NO_METRICS, sort_order_id: sortOrder },
  }));
}

/** The entries of a new manifest. */
export interface NewManifest {
  readonly group: string;
  /** Files of the snapshot, then files of the previous one that are gone. */
  readonly entries: readonly ManifestEntry[];
}

/** Entries of the files of a snapshot. */
export const liveEntries = (entries: readonly ManifestEntry[]): ManifestEntry[] =>
  entries.filter(({ status }) => status !== STATUS.deleted);

/**
 * Plans the manifests of a snapshot: those of the previous snapshot that stay, and a new one for each group of files that
 * is not as before.
 * @param before manifests of the previous snapshot with their entries, which those that stay need not have
 */
export function planManifests(
  { files }: LakeSnapshot,
  { id, sequence }: CommitNumbers,
  before: readonly KnownManifest[],
  sortOrder: number,
) {
  const current = files.filter(({ record_count }) => record_count > 0);
  const { staying, outdated, relisted } = splitManifests(before, current);
  const live = liveEntries(outdated.flatMap(({ entries = [] }) => entries));
  const known = new Map(live.map((entry) => [entry.data_file.file_path, entry]));
  const named = relisted.map((file): ManifestEntry => {
    const earlier = known.get(file.file_path);
    if (earlier !== undefined) return { ...earlier, status: STATUS.existing };
    const numbers = { snapshot_id: id, sequence_number: sequence, file_sequence_number: sequence };
    return { status: STATUS.added, ...numbers, data_file: { ...file, sort_order_id: sortOrder } };
  });
  const uris = new Set(named.map(({ data_file }) => data_file.file_path));
  const gone = live
    .filter(({ data_file }) => !uris.has(data_file.file_path))
    // In an order that does not depend on where the entries are from.
    .sort((one, other) => (one.data_file.file_path < other.data_file.file_path ? -1 : 1))
    // No reader needs the statistics of a file that is gone.
    .map(
      ({ data_file, ...entry }): ManifestEntry => ({
        ...entry,
        status: STATUS.deleted,
        snapshot_id: id,
        data_file: { ...data_file, ...NO_METRICS },
      }),
    );
  const groups = byGroup([...named, ...gone], ({ data_file }) => data_file);
  return { staying, fresh: groups.map(([group, entries]): NewManifest => ({ group, entries })) };
}

/** Numbers of files, rows and bytes in manifests by status of the entry. */
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
 * Encodes the new manifests and the manifest list of a snapshot.
 * @returns all manifests of the snapshot, and the files to write; the last one is the list
 */
export function encodeManifests(
  location: string,
  { staying, fresh }: ReturnType<typeof planManifests>,
  numbers: CommitNumbers,
  shape: Shape,
) {
  const made = fresh.map(({ group, entries }) => {
    const file = manifestOf(location, { group, entries }, shape);
    return { file, listed: listedAs(file, entries, numbers, shape), entries };
  });
  const manifests: KnownManifest[] = [
    ...staying,
    ...made.map(({ listed, entries }) => ({ listed, entries })),
  ];
  const listed = manifests.map((manifest) => manifest.listed);
  const list = encode('manifests', listed, {
    'format-version': '2',
    'snapshot-id': String(numbers.id),
    'parent-snapshot-id': String(numbers.parent ?? null),
    'sequence-number': String(numbers.sequence),
  });
  const files: MetadataFile[] = [
    ...made.map(({ file }) => file),
    nameByHash(`${location}/metadata/snap-${numbers.id}`, list),
  ];
  return { manifests, files };
}

function manifestOf(location: string, { group, entries }: NewManifest, shape: Shape): MetadataFile {
  const schema = shape.schemas.find((each) => each['schema-id'] === shape['current-schema-id']);
  const fields = currentSpec(shape);
  const content = encode(fields.length > 0 ? 'entries' : 'flatEntries', entries, {
    // Descriptions of columns would be half of a small manifest.
    schema: JSON.stringify(schema, (key, value) => (key === 'doc' ? undefined : value)),
    'schema-id': String(shape['current-schema-id']),
    'partition-spec': JSON.stringify(fields),
    'partition-spec-id': String(shape['default-spec-id']),
    'format-version': '2',
    content: 'data',
  });
  const files = liveEntries(entries).map(({ data_file }) => data_file);
  return nameByHash(`${location}/metadata/${nameOf(group, files)}`, content);
}

/** A file with the hash of its content in its name, so that two plans for one snapshot never overwrite each other. */
const nameByHash = (start: string, content: Buffer): MetadataFile => ({
  uri: `${start}-${hashOf(content)}.avro`,
  content,
});

/** The entry of a manifest in its list. */
function listedAs(
  manifest: MetadataFile,
  entries: readonly ManifestEntry[],
  { id, sequence }: CommitNumbers,
  shape: Shape,
): ListedManifest {
  const { existing, added, deleted } = countsOf(entries);
  return {
    manifest_path: manifest.uri,
    manifest_length: manifest.content.length,
    partition_spec_id: shape['default-spec-id'],
    content: 0,
    sequence_number: sequence,
    min_sequence_number: Math.min(...entries.map((entry) => entry.sequence_number)),
    added_snapshot_id: id,
    added_files_count: added.files,
    added_rows_count: added.rows,
    existing_files_count: existing.files,
    existing_rows_count: existing.rows,
    deleted_files_count: deleted.files,
    deleted_rows_count: deleted.rows,
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
