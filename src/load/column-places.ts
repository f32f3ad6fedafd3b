import type { TableSchema } from '../lake/schema.js';
import type { LakeTable } from '../lake/tables.js';
import type { ContractNode } from '../service/contract/node.js';
import { type Stream, streams } from '../service/streams.js';
import { entitiesOf, nodeAt } from './types.js';

/** Columns whose value comes from a parent, with its place in the contract. */
const HANDED: Readonly<Record<string, string>> = { vehicle_id: 'id', lot_id: 'lots[].id' };

/** The place that fills a column. The column's name is its path below the entity `from`, with `_` for `.`. */
export function sourceOf(table: LakeTable, column: string, from = table.from): ContractNode | undefined {
  const { contract } = streams[table.stream];
  const entity = nodeAt(contract, from);
  if (entity === undefined) return undefined;
  // An empty list of sources means that the value comes from a parent.
  const direct = table.sources[column]?.length === 0 ? undefined : below(entity, column);
  if (direct !== undefined || !column.endsWith('_id')) return direct;
  const handed = HANDED[column];
  if (handed !== undefined && table.stream === 'cars') return nodeAt(contract, handed);
  const report = nodeAt(contract, topOf(from));
  const names = [column, `vehicle_ref_${column}`, column.replace(/_id$/, '.id')];
  const inherited = report === undefined ? [] : names.map((name) => below(report, name));
  return [...inherited, entity.members.get('id')].find((node) => node !== undefined);
}

/** The lot or report that a path lies in: `lots[]` of `lots[].prices[]`. */
const topOf = (path: string): string => `${path.split('[]')[0] ?? ''}[]`;

function below(node: ContractNode, column: string): ContractNode | undefined {
  const exact = node.members.get(column);
  if (exact !== undefined) return exact;
  for (const member of node.members.values()) {
    if (!column.startsWith(`${member.name}_`)) continue;
    const found = below(member, column.slice(member.name.length + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Columns that are filled in the rows of one table, cut from one entity of a record. */
export interface FilledColumns {
  readonly table: LakeTable;
  /** Path of the entity, such as `lots[]`. */
  readonly entity: string;
  readonly columns: readonly string[];
  /** The key columns of the table with the paths that fill them; undefined for positions. */
  readonly key: readonly (readonly [column: string, path: string | undefined])[];
}

/** The columns that the places of a contract fill. */
export type ColumnPlaces = ReturnType<typeof columnPlaces>;

/** Finds out which columns the places of a stream's contract fill. */
export function columnPlaces({ name, contract }: Stream, schemas: Iterable<TableSchema>) {
  const entities = entitiesOf(contract).map(({ path }) => path);
  const own = [...schemas].filter(({ table }) => table.stream === name);
  const cut = own.flatMap((schema) =>
    entities
      .filter((entity) => schema.table.sql.includes(entity === '' ? 'from records' : `from "${entity}"`))
      .map((entity) => rowsOf(schema, entity)),
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
function rowsOf({ table, content }: TableSchema, entity: string) {
  const placesOf = (column: string): readonly string[] => placesOfColumn(table, column, entity);
  const names = content.map(({ name }) => name);
  const columns = [...new Set([...names, ...Object.keys(table.sources)])];
  const filled = columns.flatMap((column) => placesOf(column).map((source) => ({ column, source })));
  // These tables are partitioned by the month of their lot or report.
  if (table.partition?.month === '_month_at')
    filled.push({ column: 'month', source: `${topOf(entity)}.created_at` });
  return { table, entity, names, filled, key: table.key.map((part) => [part, placesOf(part)[0]] as const) };
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

function placesOfColumn(table: LakeTable, column: string, entity: string): readonly string[] {
  const given = table.sources[column];
  if (given !== undefined) return given.map((path) => (entity === '' ? path : `${entity}.${path}`));
  // The date of a report also fills its local time, cut to the precision of the row, and its offset.
  const date = column.replace(/_(?:local|offset)$/, '');
  const isLocal = column.endsWith('_local');
  const source = sourceOf(table, date, entity);
  const precision = isLocal
    ? nodeAt(streams[table.stream].contract, entity)?.members.get('date_precision_key')
    : undefined;
  return [source, precision].flatMap((node) => (node === undefined ? [] : [node.path]));
}

function isIn(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`) || path.startsWith(`${other}[`);
}
