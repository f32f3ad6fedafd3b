import { LotlakeError } from '../../base/config/lotlake-error.js';
import type { Field } from '../../core/lake/field-ids.js';

/** A table or mart as Iceberg needs it. */
export interface IcebergTable {
  readonly name: string;
  readonly description: string;
  /** All columns of the table: those of the files, and those of the partition. */
  readonly columns: readonly (Field & { readonly description?: string | undefined })[];
  readonly key: readonly string[];
  /** Columns that the rows of each file are sorted by. */
  readonly sort: readonly string[];
  /** Whether its files lie in partitions by `domain_id` and `month`. */
  readonly partitioned: boolean;
}

/** Iceberg type of each DuckDB type that a published file may have. */
const TYPES = {
  BIGINT: 'long',
  BOOLEAN: 'boolean',
  DATE: 'date',
  DOUBLE: 'double',
  INTEGER: 'int',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
  TIMESTAMPTZ: 'timestamptz',
  VARCHAR: 'string',
} as const;

/** A type of one value. */
export type PrimitiveType = (typeof TYPES)[keyof typeof TYPES];

/** Fields of a schema, before it has an id. */
export type SchemaFields = ReturnType<typeof schemaOf>;

/** The Iceberg type of a DuckDB type. Throws ICEBERG_TYPE if there is none. */
export function primitiveOf(type: string): PrimitiveType {
  const found = Object.entries(TYPES).find(([name]) => name === type);
  if (found !== undefined) return found[1];
  throw new LotlakeError('ICEBERG_TYPE', `no Iceberg type holds the values of ${type}`, {
    hint: `the snapshot stays; a published column has one of ${Object.keys(TYPES).join(', ')}, or a list of it`,
  });
}

function typeOf({ type, element_id }: Field) {
  if (element_id === undefined) return primitiveOf(type);
  const element = { 'element-id': element_id, element: primitiveOf(type.slice(0, -2)) };
  return { type: 'list' as const, ...element, 'element-required': false };
}

/** The ids of columns of a table, in the order of their names. */
export const idsOfNames = ({ columns }: Pick<IcebergTable, 'columns'>, names: readonly string[]): number[] =>
  names.flatMap((name) => columns.find((column) => column.name === name)?.field_id ?? []);

/**
 * Schema of a table. Iceberg allows no float in an identifier, so that a table with one in its key has none.
 * @param isKeyProven whether no file has a null in a column of the key, so that the key identifies a row
 */
export function schemaOf(table: IcebergTable, isKeyProven: boolean) {
  const { columns, key } = table;
  const isIdentifier =
    isKeyProven && !columns.some(({ name, type }) => type === 'DOUBLE' && key.includes(name));
  const required = isIdentifier ? key : [];
  const fields = columns.map((column) => ({
    id: column.field_id,
    name: column.name,
    required: required.includes(column.name),
    type: typeOf(column),
    ...(column.description ? { doc: column.description } : {}),
  }));
  const ids = idsOfNames(table, required);
  return { type: 'struct' as const, fields, ...(ids.length === 0 ? {} : { 'identifier-field-ids': ids }) };
}

/** All field ids of a schema, with those of list elements. */
export const idsOf = ({ fields }: SchemaFields): number[] =>
  fields.flatMap(({ id, type }) => (typeof type === 'string' ? [id] : [id, type['element-id']]));

/**
 * Names by which a reader finds the columns of files that were written before field ids: those of the current schema, and
 * those that only earlier ones have, for earlier snapshots.
 */
export function nameMappingOf({ fields }: SchemaFields, earlier: readonly SchemaFields[]): string {
  const all = new Map(fields.map((field) => [field.name, field]));
  for (const field of earlier.flatMap((schema) => schema.fields))
    if (!all.has(field.name)) all.set(field.name, field);
  const ids = new Map([...all.values()].map((field) => [field.id, field]));
  const namesOf = (id: number) =>
    [...all.values()].filter((field) => field.id === id).map(({ name }) => name);
  return JSON.stringify(
    [...ids.values()].map(({ id, type }) => ({
      'field-id': id,
      names: namesOf(id),
      ...(typeof type === 'string'
        ? {}
        : { fields: [{ 'field-id': type['element-id'], names: ['element'] }] }),
    })),
  );
}

/** Columns that partitions follow from. */
const PARTITIONED_BY = ['domain_id', 'month'] as const;

const FIRST_PARTITION_FIELD = 1000;

/** Id of the last partition field that any table has. */
export const LAST_PARTITION_FIELD = FIRST_PARTITION_FIELD + PARTITIONED_BY.length - 1;

/** Partition fields of a table. Their ids are separate from those of the schema. */
export const partitionFieldsOf = (table: IcebergTable) =>
  (table.partitioned ? PARTITIONED_BY : []).flatMap((name, i) =>
    idsOfNames(table, [name]).map((id) => ({
      name,
      transform: 'identity',
      'field-id': FIRST_PARTITION_FIELD + i,
      'source-id': id,
    })),
  );
