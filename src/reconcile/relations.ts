import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { identifier, literal } from '../duck/session.js';
import { filesRelation } from '../lake/files.js';
import type { LakeFile } from '../lake/manifest.js';
import type { Column } from '../lake/schema.js';
import { type LakeTable, ownTables } from '../lake/tables.js';
import { type MergeContext, ReconcileError } from './context.js';

/** Bytes of Parquet up to which the last state of a table is held in memory, and its staged rows may be beside it. */
const SMALL = { stored: 512 << 10, staged: 1 << 20 } as const;

/** Columns of the partition that rows are in. */
export const PARTITION: readonly Column[] = ['_domain', '_month'].map((name) => ({ name, type: 'VARCHAR' }));

/** SQL of these columns of a row that is read with the partition of its path. */
export const PARTITION_OF_PATH = "coalesce(cast(domain_id as varchar), 'none') as _domain, month as _month";

/** A table as it is written and read: one that is cut from records, or one of lotlake's own. */
export interface StoredTable {
  readonly table: Pick<LakeTable, 'name' | 'partition'> & {
    readonly key: readonly string[];
    readonly sort: readonly string[];
    readonly wide?: number | undefined;
  };
  readonly columns: readonly Column[];
}

/** A table of lotlake's own. Throws ReconcileError where there is none. */
export function ownTable(name: string): StoredTable {
  const own = ownTables.find((each) => each.name === name);
  if (own === undefined) throw new ReconcileError('RECONCILE_FAILED', `there is no own table ${name}`);
  const { key, columns, partitioned } = own;
  const partition = partitioned ? ({ domain_id: true, month: 'seen_at' } as const) : undefined;
  return { table: { name, key, sort: key, partition }, columns };
}

/** SQL of columns in their types; null for those that a relation lacks. */
export const castColumns = (columns: readonly Column[], known?: ReadonlySet<string>): string =>
  columns
    .map(({ name, type }) => {
      const column = identifier(name);
      return `cast(${known?.has(name) === false ? 'null' : column} as ${type}) as ${column}`;
    })
    .join(', ');

/** SQL that says whether rows of two relations have the same key, parts of which may be null. */
export const sameKey = (key: readonly string[], a: string, b: string): string =>
  key.map((name) => `${a}.${identifier(name)} is not distinct from ${b}.${identifier(name)}`).join(' and ');

/** Whether this run staged rows for a table. */
export function isStaged(context: Pick<MergeContext, 'stage'>, table: string): boolean {
  const folder = join(context.stage, table);
  return existsSync(folder) && readdirSync(folder).length > 0;
}

/** The staged rows of a table as they were received; a wide table has `_domain` and `_month` beside them. */
export function stagedFiles(context: Pick<MergeContext, 'stage'>, table: string): string {
  const folder = join(context.stage, table);
  // A small batch of a wide table is one file, a large one is staged by partition.
  const entries = readdirSync(folder, { withFileTypes: true });
  const whole = `read_parquet(${literal(join(folder, '*.parquet'))}, hive_partitioning = false)`;
  if (!entries.some((entry) => entry.isDirectory())) return whole;
  const parts = `read_parquet(${literal(join(folder, '*', '*', '*.parquet'))}, hive_partitioning = true, hive_types_autocast = false)`;
  return entries.some((entry) => entry.isFile())
    ? `(select * from ${parts} union all by name select * from ${whole})`
    : parts;
}

/** Whether the base rows and the staged rows of a table fit into memory together. */
export function isSmall(context: Pick<MergeContext, 'base' | 'stage'>, table: string): boolean {
  const stored = context.base?.manifest.tables[table]?.bytes ?? 0;
  return stored <= SMALL.stored && stagedBytes(context, table) <= SMALL.staged;
}

function stagedBytes({ stage }: Pick<MergeContext, 'stage'>, table: string): number {
  const folder = join(stage, table);
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/**
 * The rows of a table in the last snapshot, with `_domain` and `_month` if it is partitioned. Columns that the snapshot
 * does not have yet are null.
 * @param files the files to read; all of them by default
 */
export function baseRelation(
  context: Pick<MergeContext, 'base'>,
  { table, columns }: StoredTable,
  files?: readonly LakeFile[],
): string {
  const stored = context.base?.manifest.tables[table.name];
  const used = (files ?? stored?.files ?? []).filter((file) => file.rows > 0);
  const isPartitioned = table.partition !== undefined;
  if (context.base === undefined || stored === undefined || used.length === 0) {
    return `(${emptyOf([...columns, ...(isPartitioned ? PARTITION : [])])})`;
  }
  const known = new Set(stored.columns.map((column) => column.name));
  const partition = isPartitioned ? `, ${PARTITION_OF_PATH}` : '';
  return `(select ${castColumns(columns, known)}${partition} from ${filesRelation(context.base.folder, used, stored.partitioned)})`;
}

/** A relation of columns without a row. */
export const emptyOf = (columns: readonly Column[]): string =>
  `select ${castColumns(columns, new Set())} where false`;
