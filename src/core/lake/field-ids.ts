import { createHash } from 'node:crypto';
import { byName } from '../../base/config/json.js';
import { identifier } from '../../base/duck/session.js';
import { allTables, type Manifest, type ManifestTable } from './manifest.js';
import type { Column } from './schema.js';

/** A column with its id in Parquet and Iceberg and, if it is a list, the id of its elements. */
export interface Field extends Column {
  readonly field_id: number;
  readonly element_id?: number | undefined;
}

/** The ids of a table: those of its columns, and those that columns had which it no longer has. */
export type FieldRecord = Pick<ManifestTable, 'columns' | 'dropped'>;

/** What the manifest of a snapshot says of the ids of all tables and marts. */
export type IdRecords = Pick<Manifest, 'tables' | 'marts' | 'absent'>;

/** The record of a table or mart; undefined if no snapshot had it. */
export const recordIn = (records: IdRecords | undefined, name: string): FieldRecord | undefined =>
  records === undefined ? undefined : (allTables(records)[name] ?? records.absent?.[name]);

/** The records of the tables and marts that a new snapshot lacks, for its manifest. */
export function absentIn(records: IdRecords, names: ReadonlySet<string>): Pick<Manifest, 'absent'> {
  const all = Object.entries({ ...records.absent, ...allTables(records) });
  const absent = all.filter(([name]) => !names.has(name)).map(([name, record]) => [name, recordOnly(record)]);
  return absent.length === 0 ? {} : { absent: byName(Object.fromEntries(absent)) };
}

const recordOnly = ({ columns, dropped }: FieldRecord): FieldRecord => ({
  columns: fieldsOf({ columns }),
  ...(dropped === undefined ? {} : { dropped }),
});

/** A column that is about to be written. Without a type, it has the type that is recorded. */
export interface WantedColumn {
  readonly name: string;
  readonly type?: string | undefined;
  /** Name that it had before. */
  readonly was?: string | undefined;
}

/**
 * The id that a column has unless it is taken, from 1 to 2^24 - 1: a hash of its path.
 * @param path name of a column, or `tags.element` for the elements of a list
 */
export function hashOf(path: string): number {
  const id = known.get(path) ?? createHash('sha256').update(path).digest().readUIntBE(0, 3);
  known.set(path, id);
  return id;
}

const known = new Map<string, number>();

const elementOf = (name: string): string => `${name}.element`;

const isList = (type: string | undefined): boolean => type?.endsWith('[]') === true;

/** The columns of a table with the ids that its files have. */
export const fieldsOf = ({ columns }: Pick<FieldRecord, 'columns'>): Field[] =>
  columns.map(({ name, type, field_id, element_id }) => ({
    name,
    type,
    field_id,
    ...(element_id === undefined ? {} : { element_id }),
  }));

/**
 * Gives the columns of a table their ids. A column keeps the id that is recorded, also under a new name that says which one
 * it had (`was`). A new column, and one whose type Iceberg cannot read as the new one, gets the hash of its name or, if the
 * table has or had that number, the next free one. No id is given twice.
 * @param before the record of the last snapshot; undefined for a new table
 * @param isPartitioned whether the path of its files has the column `month`, which has the hash of its name
 * @returns the new record
 */
export function giveIds(
  wanted: readonly WantedColumn[],
  before: FieldRecord | undefined,
  isPartitioned: boolean,
) {
  const recorded = fieldsOf(before ?? { columns: [] });
  const dropped = before?.dropped ?? [];
  const idsOf = ({ field_id, element_id = 0 }: Field): number[] => [field_id, element_id];
  const taken = new Set([...recorded, ...dropped].flatMap(idsOf));
  if (isPartitioned) taken.add(hashOf('month'));
  const free = (path: string): number => {
    let id = hashOf(path);
    while (taken.has(id)) id++;
    taken.add(id);
    return id;
  };
  const given = new Set<number>();
  const columns = wanted.map((column): Field => {
    const { name } = column;
    const old = recordOf(column, wanted, recorded);
    const type = column.type ?? old?.type ?? '';
    const keeps = old !== undefined && isReadAs(old.type, type) && idsOf(old).every((id) => !given.has(id));
    const field_id = keeps ? old.field_id : free(name);
    const element = isList(type) ? { element_id: (keeps && old.element_id) || free(elementOf(name)) } : {};
    const field = { name, type, field_id, ...element };
    for (const id of idsOf(field)) if (id > 0) given.add(id);
    return field;
  });
  const gone = recorded.filter(({ field_id }) => !given.has(field_id));
  return { columns, ...(dropped.length + gone.length === 0 ? {} : { dropped: [...dropped, ...gone] }) };
}

/** The recorded column that a wanted one goes on: the one of its name or, if there is none, of the name that it had. */
function recordOf({ name, was }: WantedColumn, wanted: readonly WantedColumn[], recorded: readonly Field[]) {
  const same = recorded.find((field) => field.name === name);
  if (same !== undefined || wanted.some((other) => other.name === was)) return same;
  return recorded.find((field) => field.name === was);
}

/** Whether readers of Iceberg read values of a type as values of another: the same, or a wider integer. */
const isReadAs = (type: string, as: string): boolean =>
  type === as || type.replace(/^INTEGER(?=$|\[)/, 'BIGINT') === as;

/** Option of COPY that writes field ids into a Parquet file. */
export function fieldIdsOption(fields: readonly Field[]): string {
  const ids = fields.map(({ name, field_id, element_id }) => {
    const nested = `{__duckdb_field_id: ${field_id}, element: ${element_id}}`;
    return `${identifier(name)}: ${element_id === undefined ? field_id : nested}`;
  });
  return `field_ids {${ids.join(', ')}}`;
}
