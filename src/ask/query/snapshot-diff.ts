import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import { ConfigError } from '../../base/config/lotlake-error.js';
import { identifier, literal, row, rows, sameKey } from '../../base/duck/session.js';
import { describeSnapshot } from '../../core/lake/describe.js';
import { fileSizes, filesRelation } from '../../core/lake/files.js';
import { layoutOf } from '../../core/lake/layout.js';
import {
  allTables,
  type LakeFile,
  type Manifest,
  type ManifestTable,
  readManifest,
} from '../../core/lake/manifest.js';
import type { Column } from '../../core/lake/schema.js';
import { findSnapshot, listSnapshots, pickSnapshot } from '../../core/lake/snapshots.js';
import type { Model } from '../../core/model/model-files.js';
import { snapshotFolder } from './open-lake.js';

/** One side of a comparison: a snapshot, or marts that `lotlake model` computed. */
export interface Side {
  readonly id: string;
  readonly folder: string;
  readonly tables: Manifest['tables'];
  /** Whether it is a snapshot: a table that it lacks is gone, while marts may just not have been computed. */
  readonly isWhole: boolean;
}

/** Columns that say when lotlake wrote a row, and nothing about its content. */
const WRITTEN: ReadonlySet<string> = new Set(['run_id', 'changed_at']);

/**
 * Finds the side that a text names: `current`, the id of a snapshot, a folder of a snapshot or of `lotlake model`, or a
 * time. Throws QUERY_*, LAKE_* or ConfigError if there is no such side.
 * @param models marts that a folder of `lotlake model` may hold
 */
export async function sideOf(
  connection: DuckDBConnection,
  config: Config,
  given: string,
  cwd: string,
  models: readonly Model[],
): Promise<Side> {
  const layout = layoutOf(config.output);
  const folder = resolve(cwd, given);
  if (given === 'current') return snapshotIn(snapshotFolder(config));
  const named = listSnapshots(layout).find(({ id }) => id === given);
  if (named !== undefined) return snapshotIn(named.folder);
  if (existsSync(join(folder, 'manifest.json'))) return snapshotIn(folder);
  if (existsSync(folder)) return martsIn(connection, folder, models);
  const isTime = /^\d{4}-\d{2}-\d{2}/.test(given);
  const atTime = isTime ? await pickSnapshot(connection, layout, { asOf: given }) : undefined;
  return snapshotIn(atTime ?? findSnapshot(layout, given));
}

const snapshotIn = (folder: string): Side => ({
  id: basename(folder),
  folder,
  isWhole: true,
  tables: allTables(readManifest(folder)),
});

async function martsIn(
  connection: DuckDBConnection,
  folder: string,
  models: readonly Model[],
): Promise<Side> {
  const there = models.filter(({ name }) => fileSizes(folder, name).length > 0);
  const { marts } = await describeSnapshot(connection, folder, new Map(), there, { own: [] });
  if (there.length > 0) return { id: folder, folder, tables: marts, isWhole: false };
  const found = readdirSync(folder).slice(0, 3).join(', ') || 'nothing';
  throw new ConfigError(
    `${folder} is neither a snapshot nor a folder of marts; it holds ${found}`,
    'name current, the id of a snapshot, its folder, a time, or a folder that lotlake model wrote',
  );
}

/** How a table or mart differs. */
export interface TableDiff {
  readonly name: string;
  readonly state: 'same' | 'changed' | 'new' | 'gone';
  /** Null on a side that lacks the table. */
  readonly rows_before: number | null;
  readonly rows_after: number | null;
  /** Rows that were added, removed and changed; null if they are not known. */
  readonly added: number | null;
  readonly removed: number | null;
  readonly changed: number | null;
  /** Columns whose values changed, most changes first. */
  readonly columns: readonly { readonly name: string; readonly rows: number }[];
  /** Columns that are new, gone or of another type. */
  readonly schema: readonly SchemaChange[];
  readonly rows: readonly ChangedRow[];
}

/** A row that was added or removed or has other values; its key and values as text. */
interface ChangedRow {
  readonly change: 'added' | 'removed' | 'changed';
  readonly key: Readonly<Record<string, string | null>>;
  readonly columns: readonly { name: string; before: string | null; after: string | null }[];
}

/** Names of the tables and marts to compare, in the order of the later side. */
export const comparedTables = (before: Side, after: Side): string[] => [
  ...Object.keys(after.tables).filter((name) => before.isWhole || name in before.tables),
  ...Object.keys(before.tables).filter((name) => after.isWhole && !(name in after.tables)),
];

/**
 * Compares a table or mart of two sides by its key. It skips files that both sides share, and the columns that say when a
 * row was written. Floating-point numbers are the same if they differ by at most {@link SAME} of the larger one. Counts are
 * null if they are not known.
 * @param limit rows to show
 * @returns its state (same, changed, new, gone); its rows on both sides; rows added, removed and changed; the columns
 *   whose values changed, most changes first; columns that are new, gone or of another type
 */
export async function diffTable(
  connection: DuckDBConnection,
  before: Side,
  after: Side,
  name: string,
  limit: number,
): Promise<TableDiff> {
  const [a, b] = [before.tables[name], after.tables[name]];
  const facts = { name, rows_before: a?.rows ?? null, rows_after: b?.rows ?? null };
  const none = { added: null, removed: null, changed: null, columns: [], schema: [], rows: [] };
  if (a === undefined || b === undefined)
    return { ...facts, ...none, state: a === undefined ? 'new' : 'gone' };
  const schema = schemaChanges(a.columns, b.columns);
  const shared = sharedFiles(a, b);
  const relationOf = (folder: string, { files, partitioned }: ManifestTable): string | undefined => {
    const own = files.filter(({ path }) => !shared.has(path));
    return own.length === 0 ? undefined : filesRelation(folder, own, partitioned);
  };
  const [left, right] = [relationOf(before.folder, a), relationOf(after.folder, b)];
  if (left === undefined && right === undefined)
    return { ...facts, ...none, added: 0, removed: 0, changed: 0, state: 'same' };
  const comparable = b.columns.filter(({ name }) => !schema.some((each) => each.name === name));
  const { key } = b;
  const isThere = (column: string): boolean => comparable.some((each) => each.name === column);
  if (key.length === 0 || String(a.key) !== String(key) || !key.every(isThere))
    return { ...facts, ...none, schema, state: 'changed' };
  const compared = comparable.filter((column) => !key.includes(column.name) && !WRITTEN.has(column.name));
  const used = [...key, ...compared.map((column) => column.name)];
  const joined = joinOf(left ?? `${right} limit 0`, right ?? `${left} limit 0`, key, used);
  const counts = await countChanges(connection, joined, compared);
  const differing = counts.added + counts.removed + counts.changed;
  const shown = differing * limit === 0 ? [] : await readRows(connection, joined, key, compared, limit);
  const state = differing + schema.length === 0 ? 'same' : 'changed';
  return { ...facts, ...counts, schema, state, rows: shown };
}

/** A column that is new, gone or of another type. The type is null on a side that lacks the column. */
export interface SchemaChange {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Columns that are new, gone or of another type. */
export function schemaChanges(before: readonly Column[], after: readonly Column[]): SchemaChange[] {
  const [was, is] = [before, after].map((columns) => new Map(columns.map(({ name, type }) => [name, type])));
  return [...new Set([...before, ...after].map(({ name }) => name))]
    .map((name) => ({ name, before: was?.get(name) ?? null, after: is?.get(name) ?? null }))
    .filter((column) => column.before !== column.after);
}

/** Paths of the files that have the same path and checksum on both sides. */
export function sharedFiles(a: ManifestTable, b: ManifestTable): ReadonlySet<string> {
  const sums = new Map(a.files.map(({ path, sha256 }) => [path, sha256]));
  const isShared = ({ path, sha256 }: LakeFile): boolean => sha256 !== undefined && sums.get(path) === sha256;
  return new Set(b.files.filter(isShared).map(({ path }) => path));
}

/** Marks the rows of a side in the join of both. */
const HERE = identifier('is here');

/** The rows of both sides joined by key: the SQL that follows `select …`. */
function joinOf(before: string, after: string, key: readonly string[], columns: readonly string[]): string {
  const list = columns.map(identifier).join(', ');
  const side = (relation: string): string => `(select ${list}, true as ${HERE} from ${relation})`;
  return `from ${side(before)} as a full join ${side(after)} as b on ${sameKey(key, 'a', 'b')}`;
}

const IN_BOTH = `a.${HERE} and b.${HERE}`;

/** Share by which two floating-point numbers may differ and still be the same: sums depend on the order of their parts. */
const SAME = 1e-9;

/**
 * SQL that is true if the values of a column differ. Two whole numbers are exact, and so is a difference to zero, null,
 * infinity or NaN.
 */
function differs({ name, type }: Column): string {
  const [a, b] = [`a.${identifier(name)}`, `b.${identifier(name)}`];
  const distinct = `${a} is distinct from ${b}`;
  if (!/^(DOUBLE|FLOAT)$/.test(type)) return distinct;
  const isClose = `abs(${a} - ${b}) <= ${SAME} * greatest(abs(${a}), abs(${b}))`;
  const isRounded = `isfinite(${a}) and isfinite(${b}) and (${a} != trunc(${a}) or ${b} != trunc(${b}))`;
  return `(${distinct} and not coalesce(${isRounded} and ${isClose}, false))`;
}

const anyOf = (columns: readonly Column[]): string => columns.map(differs).join(' or ') || 'false';

async function countChanges(connection: DuckDBConnection, joined: string, columns: readonly Column[]) {
  const conditions = [
    `a.${HERE} is null`,
    `b.${HERE} is null`,
    `${IN_BOTH} and (${anyOf(columns)})`,
    ...columns.map((column) => `${IN_BOTH} and ${differs(column)}`),
  ];
  const counted = conditions.map((condition, i) => `count(*) filter (where ${condition}) as "${i}"`);
  const counts = await row(connection, `select ${counted.join(', ')} ${joined}`);
  const [added = 0, removed = 0, changed = 0, ...byColumn] = Object.values(counts).map(Number);
  const changes = columns.map(({ name }, i) => ({ name, rows: byColumn[i] ?? 0 }));
  return {
    added,
    removed,
    changed,
    columns: changes.filter((column) => column.rows > 0).sort((one, other) => other.rows - one.rows),
  };
}

/** The first rows that differ, by key. */
async function readRows(
  connection: DuckDBConnection,
  joined: string,
  key: readonly string[],
  columns: readonly Column[],
  limit: number,
): Promise<readonly ChangedRow[]> {
  const text = (side: string, name: string): string => `cast(${side}.${identifier(name)} as varchar)`;
  const keys = key.map((name) => `${literal(name)}: coalesce(${text('b', name)}, ${text('a', name)})`);
  const changes = columns.map(
    (column) =>
      `case when ${IN_BOTH} and ${differs(column)}
       then {'name': ${literal(column.name)}, 'before': ${text('a', column.name)}, 'after': ${text('b', column.name)}} end`,
  );
  const order = key.map((name) => `coalesce(b.${identifier(name)}, a.${identifier(name)})`);
  const found: readonly unknown[] = await rows(
    connection,
    `select case when a.${HERE} is null then 'added' when b.${HERE} is null then 'removed' else 'changed' end as change,
       {${keys.join(', ')}} as key,
       list_filter([${changes.join(', ') || 'null'}], lambda each: each is not null) as columns
     ${joined}
     where a.${HERE} is null or b.${HERE} is null or ${anyOf(columns)}
     order by ${order.join(', ')} limit ${limit}`,
  );
  return found as readonly ChangedRow[];
}
