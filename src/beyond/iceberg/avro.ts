import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import avro from 'avsc';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import schemas from './avro-schemas.json' with { type: 'json' };
import type { Metrics } from './column-metrics.js';

/** The error ICEBERG_METADATA, for metadata that a power cut or another program left. */
export const unreadable = (message: string, cause: unknown): LotlakeError =>
  new LotlakeError('ICEBERG_METADATA', message, {
    cause,
    hint: 'the data files stay; remove the metadata of this table, and the next run or push writes it again',
  });

/** Status of a data file in a manifest. */
export const STATUS = { existing: 0, added: 1, deleted: 2 } as const;

/** A data file in a manifest, with statistics. */
export interface DataFile extends Metrics {
  readonly content: 0;
  readonly file_path: string;
  readonly file_format: 'PARQUET';
  /** Source (null if it is unknown) and month by field name; empty if the table has no partitions. */
  readonly partition: Readonly<Record<string, number | string | null>>;
  readonly record_count: number;
  readonly file_size_in_bytes: number;
}

/** An entry of a manifest. */
export interface ManifestEntry {
  readonly status: (typeof STATUS)[keyof typeof STATUS];
  /** Snapshot that added the file, or that removed it if the status is deleted. */
  readonly snapshot_id: number;
  readonly sequence_number: number;
  readonly file_sequence_number: number;
  readonly data_file: DataFile & { readonly sort_order_id: number };
}

/** A manifest in the list of a snapshot. */
export interface ListedManifest
  extends Readonly<
    Record<
      | 'manifest_length'
      | 'partition_spec_id'
      | 'content'
      | 'sequence_number'
      | 'min_sequence_number'
      | 'added_snapshot_id'
      | `${'added' | 'existing' | 'deleted'}_${'files' | 'rows'}_count`,
      number
    >
  > {
  readonly manifest_path: string;
  /** Range of each partition field. */
  readonly partitions: readonly {
    readonly contains_null: boolean;
    readonly lower_bound: Buffer | null;
    readonly upper_bound: Buffer | null;
  }[];
}

/** Avro schemas by kind of file. Each `field-id` is from the Iceberg specification, version 2. */
const SCHEMAS = {
  entries: JSON.stringify(schemas.entry),
  /** Entries of a table without partitions. */
  flatEntries: JSON.stringify(schemas.entry, (_, part) =>
    part?.name === 'r102' ? { ...part, fields: [] } : part,
  ),
  manifests: JSON.stringify(schemas.list),
};

const compiled = new Map<string, avro.Type>();

/** The codec of a schema, compiled once. */
function typeOf(schema: string): avro.Type {
  const type = compiled.get(schema) ?? avro.Type.forSchema(JSON.parse(schema));
  compiled.set(schema, type);
  return type;
}

/** Length of the marker after a block, in bytes. */
const SYNC = 16;

/** Header of an Avro file, from the Avro specification. */
const HEADER = avro.Type.forSchema({
  type: 'record',
  name: 'org.apache.avro.file.Header',
  fields: [
    { name: 'magic', type: { type: 'fixed', name: 'Magic', size: 4 } },
    { name: 'meta', type: { type: 'map', values: 'bytes' } },
    { name: 'sync', type: { type: 'fixed', name: 'Sync', size: SYNC } },
  ],
});

const LONG = avro.Type.forSchema('long');

/**
 * Encodes an Avro file with one block. The same values give the same bytes. The file encoder of the library would compile
 * the schema for each file, and drop `field-id` from it.
 * @param properties members of the header that Iceberg reads
 */
export function encode(
  what: keyof typeof SCHEMAS,
  values: readonly object[],
  properties: Readonly<Record<string, string>>,
): Buffer {
  const schema = SCHEMAS[what];
  // Other writers use a random marker.
  const sync = createHash('sha256').update(schema).digest().subarray(0, SYNC);
  const all = Object.entries({ ...properties, 'avro.schema': schema, 'avro.codec': 'deflate' });
  const meta = Object.fromEntries(all.map(([key, text]) => [key, Buffer.from(text)]));
  const header = HEADER.toBuffer({ magic: Buffer.from('Obj\u0001'), meta, sync });
  if (values.length === 0) return header;
  const type = typeOf(schema);
  const block = deflateRawSync(Buffer.concat(values.map((value) => type.toBuffer(value))), { level: 1 });
  return Buffer.concat([header, LONG.toBuffer(values.length), LONG.toBuffer(block.length), block, sync]);
}

/**
 * Decodes a file with one block that lotlake wrote. The file decoder of the library would read a truncated file as an empty
 * one. Throws ICEBERG_METADATA.
 */
export function decode<T>(bytes: Buffer): T[] {
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
    throw unreadable('a manifest is not an Avro file that lotlake wrote', cause);
  }
}
