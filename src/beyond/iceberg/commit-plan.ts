import { isDeepStrictEqual } from 'node:util';
import { decode, type ListedManifest, type ManifestEntry } from './avro.js';
import {
  type IcebergTable,
  idsOf,
  idsOfNames,
  LAST_PARTITION_FIELD,
  nameMappingOf,
  partitionFieldsOf,
  schemaOf,
} from './iceberg-schema.js';
import {
  type CommitNumbers,
  countsOf,
  encodeManifests,
  entriesOfGone,
  type FileFacts,
  hasFiles,
  type KnownManifest,
  type LakeSnapshot,
  liveEntries,
  type MetadataFile,
  type Placed,
  type PreviousMetadata,
  planManifests,
  splitManifests,
} from './manifests.js';
import { parseMetadata, retainSnapshots, snapshotIdOf, type TableMetadata, uuidOf } from './metadata.js';

/** The metadata of a table with a new snapshot, and the files to write. */
export interface CommitPlan extends PreviousMetadata {
  /** New manifests and the manifest list, which no reader knows yet. Their names have the hash of their content. */
  readonly before: readonly MetadataFile[];
  /** URIs of everything that the snapshot needs: its list, and all of its manifests, also those of earlier snapshots. */
  readonly named: readonly string[];
  /** `vN.metadata.json`, then `version-hint.text`: with them the snapshot is current. */
  readonly after: readonly MetadataFile<string>[];
}

/**
 * Plans the metadata of a table with a new snapshot. The same input gives the same bytes. Manifests whose files all stay are
 * listed again as they are. Throws ICEBERG_TYPE.
 * @param location URI of the table's folder, without a slash at its end
 * @param kept ids of the snapshots of the lake that stay, besides the new one
 * @param previous the plan before this one, or what {@link withEntries} returns; undefined for a table without metadata
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
  const none = { staying: [], fresh: [] };
  const { 'default-sort-order-id': sortOrder, 'default-spec-id': spec } = evolve(table, none, before);
  // A manifest has one partition spec, so it cannot have the deleted files of another one.
  const isSameSpec = before === undefined || before['default-spec-id'] === spec;
  const planned = planManifests(snapshot, numbers, isSameSpec ? (previous?.manifests ?? []) : [], sortOrder);
  const shape = evolve(table, planned, before);
  const { manifests, files } = encodeManifests(location, planned, numbers, shape);
  const list = files.at(-1)?.uri ?? '';
  const metadata = retainSnapshots(
    {
      'format-version': 2,
      'table-uuid': before?.['table-uuid'] ?? uuidOf(`${location} ${snapshot.id}`),
      location,
      ...shape,
      ...historyOf(snapshot, numbers, before, {
        'manifest-list': list,
        summary: { ...summaryOf(planned, snapshot), 'lotlake.snapshot': snapshot.id },
        'schema-id': shape['current-schema-id'],
      }),
      'metadata-log': metadataLog(location, previous),
      properties: {
        comment: table.description,
        'schema.name-mapping.default': nameMappingOf(schemaOf(table, false), before?.schemas ?? []),
      },
    },
    kept,
  );
  return {
    version,
    metadata,
    manifests,
    read: previous?.read,
    before: files,
    named: [...manifests.map(({ listed }) => listed.manifest_path), list],
    after: headFiles(metadata, version),
  };
}

/** The files that make metadata current: `vN.metadata.json`, then `version-hint.text`. */
export const headFiles = (metadata: TableMetadata, version: number) =>
  [
    { uri: fileOf(metadata.location, version), content: `${JSON.stringify(metadata)}\n` },
    { uri: hintOf(metadata.location), content: String(version) },
  ] as const;

const fileOf = (location: string, version: number): string =>
  `${location}/metadata/v${version}.metadata.json`;

const hintOf = (location: string): string => `${location}/metadata/version-hint.text`;

/**
 * Reads the metadata that `version-hint.text` names, with the manifest list of its current snapshot, but without entries;
 * undefined if the table has no metadata yet. Throws ICEBERG_METADATA, and the errors of `read`.
 * @param read reads a whole file; returns undefined if there is none
 */
export async function readPrevious(
  location: string,
  read: (uri: string) => Promise<Buffer | undefined>,
): Promise<PreviousMetadata | undefined> {
  const hint = await read(hintOf(location));
  if (hint === undefined) return undefined;
  const version = Number(hint.toString());
  const place = fileOf(location, version);
  const metadata = parseMetadata(String(await read(place)), place);
  const id = metadata['current-snapshot-id'];
  const list = metadata.snapshots.find((each) => each['snapshot-id'] === id)?.['manifest-list'] ?? '';
  const listed = decode<ListedManifest>((await read(list)) ?? Buffer.alloc(0));
  return { version, metadata, manifests: listed.map((each) => ({ listed: each })), read };
}

/**
 * Adds the entries of the manifests that a snapshot with these files lists no more: other entries are not needed to plan
 * it. Reads them, unless they follow from the earlier files. Throws ICEBERG_METADATA, and the errors of `read`.
 * @param earlier files of the previous snapshot, as far as they are known
 */
export async function withEntries(
  previous: PreviousMetadata,
  files: readonly Placed[],
  earlier: readonly FileFacts[] = [],
): Promise<PreviousMetadata> {
  const { read, metadata } = previous;
  if (read === undefined) return previous;
  const { outdated } = splitManifests(previous.manifests, files);
  const manifests: KnownManifest[] = [];
  for (const known of previous.manifests) {
    const isNeeded = known.entries === undefined && outdated.includes(known) && hasFiles(known);
    const entries = async (): Promise<readonly ManifestEntry[]> =>
      entriesOfGone(known, earlier, files, metadata['default-sort-order-id']) ??
      decode<ManifestEntry>((await read(known.listed.manifest_path)) ?? Buffer.alloc(0));
    manifests.push(isNeeded ? { ...known, entries: await entries() } : known);
  }
  return { ...previous, manifests };
}

/** The members of metadata that name snapshots, with a new snapshot as the current one. */
function historyOf(
  { time }: LakeSnapshot,
  { id, sequence, parent }: CommitNumbers,
  before: TableMetadata | undefined,
  facts: Pick<TableMetadata['snapshots'][number], 'manifest-list' | 'summary' | 'schema-id'>,
) {
  // Readers refuse a snapshot that is older than the one before, as after a clock was set back.
  const at = Math.max(time, (before?.['last-updated-ms'] ?? 0) + 1);
  const earlier = before?.snapshots.filter((each) => each['snapshot-id'] !== id) ?? [];
  const snapshot = {
    'snapshot-id': id,
    ...(parent === undefined ? {} : { 'parent-snapshot-id': parent }),
    'sequence-number': sequence,
    'timestamp-ms': at,
    ...facts,
  };
  return {
    'last-sequence-number': sequence,
    'last-updated-ms': at,
    'current-snapshot-id': id,
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
  return [
    ...metadata['metadata-log'],
    { 'timestamp-ms': metadata['last-updated-ms'], 'metadata-file': fileOf(location, version) },
  ];
}

type Planned = ReturnType<typeof planManifests>;

/** Summary of a snapshot: its counts under the names of Iceberg. */
function summaryOf({ fresh }: Planned, { files }: LakeSnapshot): Record<string, string> {
  const { added, deleted } = countsOf(fresh.flatMap(({ entries }) => entries));
  const live = files.filter(({ record_count }) => record_count > 0);
  const rows = live.reduce((sum, file) => sum + file.record_count, 0);
  const bytes = live.reduce((sum, file) => sum + file.file_size_in_bytes, 0);
  const counts = {
    'added-data-files': added.files,
    'added-records': added.rows,
    'added-files-size': added.bytes,
    'deleted-data-files': deleted.files,
    'deleted-records': deleted.rows,
    'removed-files-size': deleted.bytes,
    'total-data-files': live.length,
    'total-records': rows,
    'total-files-size': bytes,
    'total-delete-files': 0,
    'total-position-deletes': 0,
    'total-equality-deletes': 0,
  };
  const changed = deleted.files === 0 ? 'append' : added.files === 0 ? 'delete' : 'overwrite';
  const texts = Object.entries(counts).map(([name, count]) => [name, String(count)]);
  return { operation: changed, ...Object.fromEntries(texts) };
}

/** Adds the current schema, partition spec and sort order of a table to the earlier ones, unless they are among them. */
function evolve(table: IcebergTable, planned: Planned, before: TableMetadata | undefined) {
  const fields = schemaOf(table, isKeyProven(table, planned, before));
  const schemas = add(before?.schemas, (id) => ({ ...fields, 'schema-id': id }), 0);
  const specs = add(
    before?.['partition-specs'],
    (id) => ({ 'spec-id': id, fields: partitionFieldsOf(table) }),
    0,
  );
  const orders = add(before?.['sort-orders'], (id) => ({ 'order-id': id, fields: sortOrderOf(table) }), 1);
  return {
    'last-column-id': Math.max(...schemas.all.flatMap(idsOf)),
    'current-schema-id': schemas.id,
    schemas: schemas.all,
    'default-spec-id': specs.id,
    'partition-specs': specs.all,
    'last-partition-id': LAST_PARTITION_FIELD,
    'default-sort-order-id': orders.id,
    'sort-orders': orders.all,
  };
}

/** Finds an item in a list whose items are numbered from `first`, or adds it with the next number. */
function add<T>(known: readonly T[] = [], numbered: (id: number) => T, first: number) {
  const index = known.findIndex((each, i) => isDeepStrictEqual(each, numbered(first + i)));
  if (index >= 0) return { id: first + index, all: [...known] };
  const id = first + known.length;
  return { id, all: [...known, numbered(id)] };
}

const sortOrderOf = (table: IcebergTable) =>
  idsOfNames(table, table.sort).map((id) => ({
    transform: 'identity',
    direction: 'asc',
    'source-id': id,
    'null-order': 'nulls-last',
  }));

/**
 * Whether no file has a null in a column of the key. A column that was nullable once stays nullable. A column that is only
 * in the path is not proven, because pyiceberg looks for required columns in the file.
 */
function isKeyProven(
  table: IcebergTable,
  { staying, fresh }: Planned,
  before: TableMetadata | undefined,
): boolean {
  const last = before?.schemas.find((each) => each['schema-id'] === before['current-schema-id']);
  const proven = last?.['identifier-field-ids'];
  if (last !== undefined && proven === undefined) return false;
  // Files that stay were proven by the last schema, for its key.
  if (staying.length > 0 && !isDeepStrictEqual(proven, idsOfNames(table, table.key))) return false;
  const live = liveEntries(fresh.flatMap(({ entries }) => entries));
  return live.every(({ data_file }) => {
    const whole = new Set(
      data_file.null_value_counts.filter(({ value }) => value === 0).map((count) => count.key),
    );
    return idsOfNames(table, table.key).every((id) => whole.has(id));
  });
}
