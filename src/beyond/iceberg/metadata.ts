import { createHash } from 'node:crypto';
import { z } from 'zod';
import { messageOf } from '../../base/config/lotlake-error.js';
import { unreadable } from './avro.js';
import type { SchemaFields } from './iceberg-schema.js';

const schema = z.custom<SchemaFields>().and(z.object({ 'schema-id': z.int() }));

const spec = z.object({
  'spec-id': z.int(),
  fields: z.array(
    z.object({
      name: z.string(),
      transform: z.string(),
      'field-id': z.int(),
      'source-id': z.int(),
    }),
  ),
});

const sortOrder = z.object({
  'order-id': z.int(),
  fields: z.array(
    z.object({
      transform: z.string(),
      direction: z.string(),
      'source-id': z.int(),
      'null-order': z.string(),
    }),
  ),
});

const snapshot = z.object({
  'snapshot-id': z.int(),
  'parent-snapshot-id': z.int().optional(),
  'sequence-number': z.int(),
  'timestamp-ms': z.int(),
  'manifest-list': z.string(),
  summary: z.record(z.string(), z.string()),
  'schema-id': z.int(),
});

const tableMetadata = z.object({
  'format-version': z.literal(2),
  'table-uuid': z.string(),
  /** URI of the table's folder. */
  location: z.string(),
  'last-sequence-number': z.int(),
  'last-updated-ms': z.int(),
  'last-column-id': z.int(),
  'current-schema-id': z.int(),
  schemas: z.array(schema),
  'default-spec-id': z.int(),
  'partition-specs': z.array(spec),
  'last-partition-id': z.int(),
  'default-sort-order-id': z.int(),
  'sort-orders': z.array(sortOrder),
  properties: z.record(z.string(), z.string()),
  'current-snapshot-id': z.int(),
  snapshots: z.array(snapshot),
  'snapshot-log': z.array(z.object({ 'timestamp-ms': z.int(), 'snapshot-id': z.int() })),
  'metadata-log': z.array(z.object({ 'timestamp-ms': z.int(), 'metadata-file': z.string() })),
  refs: z.object({ main: z.object({ 'snapshot-id': z.int(), type: z.literal('branch') }) }),
});

/** `vN.metadata.json`: what readers know about a table. */
export type TableMetadata = Readonly<z.output<typeof tableMetadata>>;

/** Reads a `vN.metadata.json` that lotlake wrote. Throws ICEBERG_METADATA. */
export function parseMetadata(text: string, place: string): TableMetadata {
  try {
    return tableMetadata.parse(JSON.parse(text));
  } catch (cause) {
    throw unreadable(`${place} cannot be read: ${messageOf(cause)}`, cause);
  }
}

/** Id of the Iceberg snapshots for a snapshot of the lake: the same in every table, below 2^48. */
export const snapshotIdOf = (lakeSnapshot: string): number =>
  createHash('sha256').update(lakeSnapshot).digest().readUIntBE(0, 6);

/** A UUID from the hash of a text. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}

/**
 * Removes snapshots that are no longer kept. The current one stays.
 * @param kept ids of snapshots of the lake
 */
export function retainSnapshots(metadata: TableMetadata, kept: readonly string[]): TableMetadata {
  const ids = new Set([...kept.map(snapshotIdOf), metadata['current-snapshot-id']]);
  const isKept = (each: { 'snapshot-id': number }): boolean => ids.has(each['snapshot-id']);
  const snapshots = metadata.snapshots.filter(isKept);
  const log = metadata['snapshot-log'];
  return {
    ...metadata,
    snapshots,
    // A reader would take a time in a gap for the entry before it, so the log begins after the last gap, as in Iceberg.
    'snapshot-log': log.slice(log.findLastIndex((each) => !isKept(each)) + 1),
    // An earlier file names snapshots that may be gone, so the log has at most one file for each snapshot.
    'metadata-log': metadata['metadata-log'].slice(-snapshots.length),
  };
}
