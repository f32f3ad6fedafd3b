import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import avro from 'avsc';
import { IcebergError } from './iceberg-error.js';
import type { Metrics } from './metrics.js';

/** Partition of a data file; a file without rows of a known source has the source null. */
export interface PartitionValues {
  readonly domain_id: number | null;
  readonly month: string;
}

/** Status of a data file in a manifest. */
export const STATUS = { existing: 0, added: 1, deleted: 2 } as const;

/** A data file as a manifest names it, with statistics. */
interface DataFileEntry extends Metrics {
  readonly content: 0;
  readonly file_path: string;
  readonly file_format: 'PARQUET';
  /** Without members where the table has no partitions. */
  readonly partition: PartitionValues | Record<string, never>;
  readonly record_count: number;
  readonly file_size_in_bytes: number;
  readonly sort_order_id: number;
}

/** An entry of a manifest. */
export interface ManifestEntry {
  readonly status: (typeof STATUS)[keyof typeof STATUS];
  /** Snapshot that added the file, or removed it where it is deleted. */
  readonly snapshot_id: number;
  readonly sequence_number: number;
  readonly file_sequence_number: number;
  readonly data_file: DataFileEntry;
}

/** An entry of a manifest list. */
export interface ManifestFile {
  readonly manifest_path: string;
  readonly manifest_length: number;
  readonly partition_spec_id: number;
  readonly content: 0;
  readonly sequence_number: number;
  readonly min_sequence_number: number;
  readonly added_snapshot_id: number;
  readonly added_files_count: number;
  readonly existing_files_count: number;
  readonly deleted_files_count: number;
  readonly added_rows_count: number;
  readonly existing_rows_count: number;
  readonly deleted_rows_count: number;
  /** One for each partition field. */
  readonly partitions: readonly {
    readonly contains_null: boolean;
    readonly lower_bound: Buffer | null;
    readonly upper_bound: Buffer | null;
  }[];
}

/** A schema that is no union. */
type AvroType = Exclude<avro.Schema, avro.Type | unknown[]>;

type AvroField = { name: string; type: AvroType | AvroType[]; 'field-id'?: number; default?: null };

const required = (id: number, name: string, type: AvroField['type']): AvroField => ({
  name,
  type,
  'field-id': id,
});

const optional = (id: number, name: string, type: AvroType): AvroField => ({
  ...required(id, name, ['null', type]),
  default: null,
});

/** A map by field id, which Avro has as a list of pairs. */
const mapOf = (keyId: number, valueId: number, value: 'long' | 'bytes'): AvroType => ({
  type: 'array',
  logicalType: 'map',
  items: {
    type: 'record',
    name: `k${keyId}_v${valueId}`,
    fields: [required(keyId, 'key', 'int'), required(valueId, 'value', value)],
  },
});

const record = (name: string, fields: AvroField[]): AvroType => ({ type: 'record', name, fields });

/** Avro schema of a manifest; `field-id` are those of the Iceberg specification, version 2. */
const entrySchema = (partitioned: boolean): AvroType =>
  record('manifest_entry', [
    required(0, 'status', 'int'),
    optional(1, 'snapshot_id', 'long'),
    optional(3, 'sequence_number', 'long'),
    optional(4, 'file_sequence_number', 'long'),
    required(
      2,
      'data_file',
      record('r2', [
        required(134, 'content', 'int'),
        required(100, 'file_path', 'string'),
        required(101, 'file_format', 'string'),
        required(
          102,
          'partition',
          record(
            'r102',
            partitioned ? [optional(1000, 'domain_id', 'long'), optional(1001, 'month', 'string')] : [],
          ),
        ),
        required(103, 'record_count', 'long'),
        required(104, 'file_size_in_bytes', 'long'),
        optional(109, 'value_counts', mapOf(119, 120, 'long')),
        optional(110, 'null_value_counts', mapOf(121, 122, 'long')),
        optional(125, 'lower_bounds', mapOf(126, 127, 'bytes')),
        optional(128, 'upper_bounds', mapOf(129, 130, 'bytes')),
        optional(140, 'sort_order_id', 'int'),
      ]),
    ),
  ]);

/** Avro schema of a manifest list. */
const listSchema = record('manifest_file', [
  required(500, 'manifest_path', 'string'),
  required(501, 'manifest_length', 'long'),
  required(502, 'partition_spec_id', 'int'),
  required(517, 'content', 'int'),
  required(515, 'sequence_number', 'long'),
  required(516, 'min_sequence_number', 'long'),
  required(503, 'added_snapshot_id', 'long'),
  required(504, 'added_files_count', 'int'),
  required(505, 'existing_files_count', 'int'),
  required(506, 'deleted_files_count', 'int'),
  required(512, 'added_rows_count', 'long'),
  required(513, 'existing_rows_count', 'long'),
  required(514, 'deleted_rows_count', 'long'),
  optional(507, 'partitions', {
    type: 'array',
    items: record('r508', [
      required(509, 'contains_null', 'boolean'),
      optional(510, 'lower_bound', 'bytes'),
      optional(511, 'upper_bound', 'bytes'),
    ]),
    'element-id': 508,
  }),
]);

/** Bytes of the mark that ends a block. */
const SYNC = 16;

/** A schema as text, with the `field-id` that the library leaves out, and what encodes its values. */
function codecOf(schema: AvroType) {
  const text = JSON.stringify(schema);
  // The mark between blocks is random elsewhere. Here the same entries give the same bytes.
  const sync = createHash('sha256').update(text).digest().subarray(0, SYNC);
  return { text, sync, type: avro.Type.forSchema(schema) };
}

const ENTRIES = { partitioned: codecOf(entrySchema(true)), flat: codecOf(entrySchema(false)) };
const LIST = codecOf(listSchema);

/** Header of an Avro file, as the Avro specification has it. */
const HEADER = avro.Type.forSchema(
  record('org.apache.avro.file.Header', [
    { name: 'magic', type: { type: 'fixed', name: 'Magic', size: 4 } },
    { name: 'meta', type: { type: 'map', values: 'bytes' } },
    { name: 'sync', type: { type: 'fixed', name: 'Sync', size: SYNC } },
  ]),
);

const LONG = avro.Type.forSchema('long');

/** Header members of an Avro file that Iceberg reads. */
type Facts = Readonly<Record<string, string>>;

/** Bytes of a manifest. The same entries give the same bytes. */
export const encodeManifest = (
  entries: readonly ManifestEntry[],
  partitioned: boolean,
  facts: Facts,
): Buffer => encode(partitioned ? ENTRIES.partitioned : ENTRIES.flat, entries, facts);

/** Bytes of a manifest list. */
export const encodeManifestList = (manifests: readonly ManifestFile[], facts: Facts): Buffer =>
  encode(LIST, manifests, facts);

/** An Avro file with one block. The encoder of the library would compile the schema for each file. */
function encode(
  { text, sync, type }: ReturnType<typeof codecOf>,
  values: readonly object[],
  facts: Facts,
): Buffer {
  const all = Object.entries({ ...facts, 'avro.schema': text, 'avro.codec': 'deflate' });
  const meta = Object.fromEntries(all.map(([key, fact]) => [key, Buffer.from(fact)]));
  const header = HEADER.toBuffer({ magic: Buffer.from('Obj\u0001'), meta, sync });
  if (values.length === 0) return header;
  const block = deflateRawSync(Buffer.concat(values.map((value) => type.toBuffer(value))), { level: 1 });
  return Buffer.concat([header, LONG.toBuffer(values.length), LONG.toBuffer(block.length), block, sync]);
}

/** Entries of a manifest that lotlake wrote. Throws IcebergError (ICEBERG_METADATA). */
export const decodeManifest = (bytes: Buffer): ManifestEntry[] => decode<ManifestEntry>(bytes);

/** Manifests of a manifest list that lotlake wrote. Throws IcebergError (ICEBERG_METADATA). */
export const decodeManifestList = (bytes: Buffer): ManifestFile[] => decode<ManifestFile>(bytes);

/** The values of the one block of a file. The decoder of the library takes a file that is cut off for an empty one. */
function decode<T>(bytes: Buffer): T[] {
  try {
    const header = HEADER.decode(bytes);
    const type = typeOf(String(header.value.meta['avro.schema']));
    if (header.offset === bytes.length) return [];
    const count = LONG.decode(bytes, header.offset);
    const size = LONG.decode(bytes, count.offset);
    const block = inflateRawSync(bytes.subarray(size.offset, size.offset + size.value));
    if (bytes.length !== size.offset + size.value + SYNC) throw new RangeError('the file is cut off');
    const values: T[] = [];
    for (let at = 0; values.length < count.value; ) {
      const { value, offset } = type.decode(block, at);
      values.push(value);
      at = offset;
    }
    return values;
  } catch (cause) {
    throw new IcebergError('ICEBERG_METADATA', 'a manifest is no Avro file that lotlake wrote', {
      cause,
      hint: 'the data files stay; remove the metadata of this table, and the next run or push writes it again',
    });
  }
}

const codecs = [ENTRIES.partitioned, ENTRIES.flat, LIST];

/** What decodes values of a schema. Those of this version are compiled once. */
const typeOf = (text: string): avro.Type =>
  codecs.find((each) => each.text === text)?.type ?? avro.Type.forSchema(JSON.parse(text));
