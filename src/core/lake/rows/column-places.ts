import { type ContractNode, walkContract } from '../../service/contract/node.js';
import { type Stream, streams } from '../../service/streams.js';
import type { TableSchema } from '../schema.js';
import type { LakeTable } from '../tables.js';
import { entitiesOf, nodeAt } from './types.js';

/**
 * Paths of the contract that fill a column in the rows of a table that come from one entity, the main one first; none if
 * no record has its value. A path that ends in `[]` stands for the position in that list. `sql/flatten/<table>.yml` names
 * them (see `members` and `parents` there), or else the column is named after its path.
 * @param entity path of an entity that the table comes from, such as `lots[]`
 */
export function membersBehind(table: LakeTable, column: string, entity: string): readonly string[] {
  const { contract } = streams[table.stream];
  const members = table.members[column];
  if (members !== undefined)
    return members
      .map((path) => (entity === '' ? path : `${entity}.${path}`))
      .filter((path) => nodeAt(contract, path) !== undefined);
  const parents = table.parents[column];
  if (parents !== undefined)
    return parents.filter((path) => !path.includes('[]') || isIn(entity, lastListOf(path)));
  if (column === 'position') return [entity];
  const named = namedMembers(contract, entity).get(column);
  return named === undefined ? [] : [named];
}

/** The innermost list that a path leads through: `lots[]` of `lots[].domain.id`. */
const lastListOf = (path: string): string => path.slice(0, path.lastIndexOf('[]') + 2);

/** The members of an entity, but not of a list in it, by the column that is named after each. */
function namedMembers(contract: ContractNode, entity: string): ReadonlyMap<string, string> {
  const start = entity === '' ? 0 : entity.length + 1;
  const row = nodeAt(contract, entity);
  const inside = row === undefined ? [] : [...walkContract(row)].map(({ path }) => path);
  return new Map(
    inside
      .filter((path) => path.length > start && !path.slice(start).includes('[]'))
      .map((path) => [path.slice(start).replaceAll('.', '_'), path]),
  );
}

/** Columns that are filled in the rows of one table, cut from one entity of a record. */
export interface FilledColumns {
  readonly table: LakeTable;
  /** Path of the entity, such as `lots[]`. */
  readonly entity: string;
  readonly columns: readonly string[];
  /** What the columns of the key hold. */
  readonly key: readonly KeyPart[];
}

/** A column of a key: filled by the member at a path (by a position, if the path ends in `[]`), or always the same text. */
interface KeyPart {
  readonly column: string;
  readonly path: string | undefined;
  readonly text: string | undefined;
}

/** The columns that the places of a contract fill. */
export type ColumnPlaces = ReturnType<typeof columnPlaces>;

/** Finds out which columns the places of a stream's contract fill. */
export function columnPlaces({ name, contract }: Stream, schemas: Iterable<TableSchema>) {
  const entities = entitiesOf(contract).map(({ path }) => path);
  const own = [...schemas].filter(({ table }) => table.stream === name);
  const cut = own.flatMap((schema) =>
    Object.entries(schema.table.from).map(([entity, texts]) => rowsOf(schema, entity, texts)),
  );
  const keys = cut.flatMap(({ table, filled }) => filled.filter(({ column }) => table.key.includes(column)));
  const rowsWith = (isFilling: (source: string) => boolean): FilledColumns[] =>
    cut.flatMap(({ filled, ...rows }) => {
      const columns = filled.filter(({ source }) => isFilling(source)).map(({ column }) => column);
      return columns.length === 0 ? [] : [{ ...rows, columns }];
    });
  /** A member that the contract does not know is kept in the column extra of its row. */
  const extraOf = (path: string): FilledColumns[] => {
    const around = entities.filter((entity) => entity === '' || isIn(path, entity));
    const nearest = around.reduce((a, b) => (b.length > a.length ? b : a));
    const rows = cut.filter(({ entity, names }) => entity === nearest && names.includes('extra'));
    return rows.map((each) => ({ ...each, columns: ['extra'] }));
  };
  const filledBy = (path: string): readonly FilledColumns[] => {
    const inside = rowsWith((source) => isIn(source, path));
    const around = inside.length > 0 ? inside : rowsWith((source) => isIn(path, source));
    const found = around.length > 0 ? around : extraOf(path);
    return found.sort((a, b) => a.entity.length - b.entity.length);
  };
  return {
    /** Paths of the entities that rows are cut from, the record itself included. */
    entities: new Set(entities),
    /** Whether a place, or a place inside it, fills a key of some table. */
    holdsKey: cachedByPath((path) => keys.some(({ source }) => isIn(source, path))),
    /** The columns that a place fills, its own entity first; `extra` if the contract does not know the place. */
    filledBy: cachedByPath(filledBy),
  };
}

/** The places that fill the columns and the key of a table, in its rows from one entity. */
function rowsOf({ table, content }: TableSchema, entity: string, texts: Readonly<Record<string, string>>) {
  const names = content.map(({ name }) => name);
  const columns = [...new Set([...names, ...Object.keys({ ...table.members, ...table.parents })])];
  const filled = columns.flatMap((column) =>
    membersBehind(table, column, entity)
      .filter((source) => !source.endsWith('[]'))
      .map((source) => ({ column, source })),
  );
  const key = table.key.map((column): KeyPart => {
    const [path] = membersBehind(table, column, entity);
    return { column, path, text: texts[column] };
  });
  return { table, entity, names, filled, key };
}

/** Caches the results of a function by path, because a record may have a million bad values. */
function cachedByPath<T>(compute: (path: string) => T): (path: string) => T {
  const known = new Map<string, T>();
  return (path) => {
    const found = known.get(path);
    if (found !== undefined) return found;
    const computed = compute(path);
    known.set(path, computed);
    return computed;
  };
}

/** Whether a path leads to a place or into it. */
function isIn(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`) || path.startsWith(`${other}[`);
}
