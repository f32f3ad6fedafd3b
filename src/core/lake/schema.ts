import type { DuckDBConnection } from '@duckdb/node-api';
import { rows } from '../../base/duck/session.js';
import type { LakeTable } from './tables.js';

/** A column of a table: DuckDB type as `DESCRIBE` prints it. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

/** Columns that say whether a row is still there, by `gone`, the treatment of gone rows. */
const STATE: Readonly<Record<LakeTable['gone'], readonly Column[]>> = {
  archive: [
    { name: 'archived', type: 'BOOLEAN' },
    { name: 'archived_at', type: 'TIMESTAMP WITH TIME ZONE' },
    { name: 'archived_by', type: 'VARCHAR' },
    { name: 'last_seen_at', type: 'TIMESTAMP WITH TIME ZONE' },
  ],
  mark: [{ name: 'gone_at', type: 'TIMESTAMP WITH TIME ZONE' }],
  remove: [],
  keep: [],
};

/** Columns that every row has. */
export const HISTORY: readonly Column[] = [
  { name: 'first_seen_at', type: 'TIMESTAMP WITH TIME ZONE' },
  { name: 'changed_at', type: 'TIMESTAMP WITH TIME ZONE' },
  { name: 'run_id', type: 'VARCHAR' },
];

/** Columns of a table that reconcile fills: state, then history. */
export function ownColumns({ gone }: Pick<LakeTable, 'gone'>): readonly Column[] {
  return [...STATE[gone], ...HISTORY];
}

/** Names of the columns whose last delivered values break the contract; null if there are none. */
export const REJECTED: Column = { name: 'rejected', type: 'VARCHAR[]' };

/** Columns of a lake table. */
export interface TableSchema {
  readonly table: LakeTable;
  /** All columns of the SELECT, including lotlake's own bookkeeping. */
  readonly staged: readonly Column[];
  /** Columns that the feed fills, in the order of the SELECT. */
  readonly content: readonly Column[];
  /** Columns that say whether a row is still there. */
  readonly state: readonly Column[];
  /** All columns as published, without `month`, which is only a partition. */
  readonly columns: readonly Column[];
}

/** Columns of a query. */
export async function columnsOf(connection: DuckDBConnection, sql: string): Promise<Column[]> {
  const described = await rows(connection, `describe ${sql}`);
  return described.map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
}

/** Describes a table's SELECT on a connection that has the views of its stream (see load/batch). */
export async function describeTable(connection: DuckDBConnection, table: LakeTable): Promise<TableSchema> {
  const staged = await columnsOf(connection, table.sql);
  const content = staged.filter(({ name }) => !name.startsWith('_') && name !== REJECTED.name);
  return {
    table,
    staged,
    content,
    state: STATE[table.gone],
    columns: [...content, REJECTED, ...ownColumns(table)],
  };
}
