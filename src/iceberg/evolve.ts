import { isDeepStrictEqual } from 'node:util';
import { fieldId } from '../lake/field-ids.js';
import { type ManifestEntry, STATUS } from './avro.js';
import type { TableMetadata } from './metadata.js';
import { type IcebergTable, idsOf, PARTITION_FIELDS, schemaOf } from './schema.js';

/** Schemas, partition specs and sort orders of a table, the current ones among them. */
export type Shape = ReturnType<typeof evolve>;

/** Adds what the table is like now to what it was like before, where that is something new. */
export function evolve(
  table: IcebergTable,
  entries: readonly ManifestEntry[],
  before: TableMetadata | undefined,
) {
  const fields = schemaOf(table, isKeyProven(table, entries, before));
  const schemas = add(before?.schemas, (id) => ({ ...fields, 'schema-id': id }), 0);
  const specs = add(before?.['partition-specs'], (id) => ({ 'spec-id': id, fields: specOf(table) }), 0);
  const orders = add(before?.['sort-orders'], (id) => ({ 'order-id': id, fields: sortOrderOf(table) }), 1);
  return {
    'last-column-id': Math.max(...schemas.all.flatMap(idsOf)),
    ...{ 'current-schema-id': schemas.id, schemas: schemas.all },
    ...{ 'default-spec-id': specs.id, 'partition-specs': specs.all },
    'last-partition-id': PARTITION_FIELDS[1]['field-id'],
    ...{ 'default-sort-order-id': orders.id, 'sort-orders': orders.all },
  };
}

/** Finds an item in a list, where items are numbered from `first` on, or adds it with the next number. */
function add<T>(known: readonly T[] = [], numbered: (id: number) => T, first: number) {
  const index = known.findIndex((each, i) => isDeepStrictEqual(each, numbered(first + i)));
  if (index >= 0) return { id: first + index, all: [...known] };
  const id = first + known.length;
  return { id, all: [...known, numbered(id)] };
}

const specOf = ({ partitioned }: IcebergTable) => (partitioned ? [...PARTITION_FIELDS] : []);

const sortOrderOf = ({ sort }: IcebergTable) =>
  sort.map((name) => ({
    ...{ transform: 'identity', direction: 'asc' },
    ...{ 'source-id': fieldId(name), 'null-order': 'nulls-last' },
  }));

/**
 * Whether no file has a null in a column of the key. A column that could be null once stays so. A column that is in the
 * path alone is not proven, because pyiceberg looks for required columns in the file.
 */
function isKeyProven(
  { key }: IcebergTable,
  entries: readonly ManifestEntry[],
  before: TableMetadata | undefined,
): boolean {
  const last = before?.schemas.find((each) => each['schema-id'] === before['current-schema-id']);
  if (last !== undefined && last['identifier-field-ids'] === undefined) return false;
  const live = entries.filter(({ status }) => status !== STATUS.deleted);
  return live.every(({ data_file }) => {
    const whole = new Set(
      data_file.null_value_counts.filter(({ value }) => value === 0).map((count) => count.key),
    );
    return key.every((name) => whole.has(fieldId(name)));
  });
}
