import { LotlakeError } from '../../base/config/lotlake-error.js';
import { identifier, type Session } from '../../base/duck/session.js';
import type { BaseState } from '../lake/base.js';
import type { IdRecords } from '../lake/field-ids.js';
import { fileSizes, filesRelation } from '../lake/files.js';
import type { LakeFile } from '../lake/manifest.js';
import type { LoadedPass } from '../lake/passes/loaded-pass.js';
import type { Column, TableSchema } from '../lake/schema.js';
import { type LakeTable, systemTables } from '../lake/tables.js';

/** Everything that merging needs. */
export interface MergeContext extends Pick<Session, 'connection' | 'connect' | 'alone' | 'memoryBytes'> {
  readonly schemas: ReadonlyMap<string, TableSchema>;
  /** Folder with the staged rows, one folder a table. */
  readonly stage: string;
  /** Folder of the snapshot that is being written, or of a state on the way to it. */
  readonly target: string;
  /** Id of the snapshot that is being written. */
  readonly snapshot: string;
  readonly base: BaseState | undefined;
  /** Ids of columns that were given before. In a rebuild, those of the published snapshot. */
  readonly recorded?: IdRecords | undefined;
  /** The run whose rows are merged: in a rebuild, the run of a replayed night. */
  readonly runId: string;
  /** When that run began; of a replayed night, when its first pass began. */
  readonly startedAt: string;
  /** When the pass over `/cars` began, else the run: the time at which rows were seen. */
  readonly seenAt: string;
  readonly passes: readonly LoadedPass[];
  readonly shrinkGuard: number;
  /** Bytes of the largest record that is loaded. */
  readonly mostRecordBytes: number;
  readonly allowShrink: boolean;
}

/**
 * Most bytes of Parquet of a table whose stored rows are in memory while merging, and of its staged rows, as a share of the
 * memory: 8 MB of 4 GB, 1.4 MB of the least.
 */
const SMALL = { stored: 512 << 10, staged: 1 / 512 } as const;

/** Columns of the partition that rows are in. */
export const PARTITION: readonly Column[] = ['_domain', '_month'].map((name) => ({ name, type: 'VARCHAR' }));

/** SQL of these columns for rows that are read from partitioned files. */
export const PARTITION_OF_PATH = "coalesce(cast(domain_id as varchar), 'none') as _domain, month as _month";

/** What it takes to read and write a table, cut from records or lotlake's own. */
export interface StoredTable {
  readonly table: Pick<LakeTable, 'name' | 'partition' | 'wide'> &
    Readonly<Record<'key' | 'sort', readonly string[]>>;
  readonly columns: readonly Column[];
}

/** A table of lotlake's own by its name. Throws RECONCILE_FAILED if there is none. */
export function systemTable(name: string): StoredTable {
  const own = systemTables.find((each) => each.name === name);
  if (own === undefined) throw new LotlakeError('RECONCILE_FAILED', `there is no own table ${name}`);
  return { table: { ...own, sort: own.key }, columns: own.columns };
}

/** SQL of columns in their types; null for those that a relation lacks. */
export const castColumns = (columns: readonly Column[], known?: ReadonlySet<string>): string =>
  columns
    .map(({ name, type }) => {
      const column = identifier(name);
      return `cast(${known?.has(name) === false ? 'null' : column} as ${type}) as ${column}`;
    })
    .join(', ');

/** Whether the base rows and the staged rows of a table fit into memory together. */
export function isSmall(context: MergeContext, table: string): boolean {
  if ((context.base?.manifest.tables[table]?.bytes ?? 0) > SMALL.stored) return false;
  const staged = fileSizes(context.stage, table).reduce((sum, file) => sum + file.bytes, 0);
  return staged <= context.memoryBytes * SMALL.staged;
}

/** Tables that merging reads several times, with all of their columns. */
export const READ_OFTEN: ReadonlySet<string> = new Set(['lots', 'vehicles']);

/**
 * Whether the rows of a table in the last snapshot are in memory while merging: opening the many small files of a
 * small lake costs more than their rows.
 */
export const isInMemory = (context: MergeContext, table: string): boolean =>
  READ_OFTEN.has(table) && context.base !== undefined && isSmall(context, table);

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

/** SELECT of the columns, without rows. */
export const emptyOf = (columns: readonly Column[]): string =>
  `select ${castColumns(columns, new Set())} where false`;
