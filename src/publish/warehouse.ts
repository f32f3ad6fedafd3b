import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { inTransaction, literal, rows, type Session } from '../duck/session.js';
import { WAREHOUSE } from '../lake/layout.js';
import type { Column } from '../lake/schema.js';
import { lakeTables, ownTables } from '../lake/tables.js';
import { commentOn, viewOn } from '../lake/views.js';

/** Names of all lake tables and whether each is partitioned, in the order in which they are listed. */
export const lakeTableNames = () =>
  [...lakeTables(), ...ownTables].map(({ name, partition }) => ({
    name,
    partitioned: partition !== undefined,
  }));

/**
 * Runs `work` in the snapshot's own database, with a view for each lake table; what `work` creates stays in it. The
 * database is written out and closed when `work` ends.
 * @param work is given a second connection to the database, for what may go on beside the work of the first
 */
export async function inWarehouse<T>(
  { connection, connect }: Pick<Session, 'connection' | 'connect'>,
  snapshot: string,
  work: (beside: DuckDBConnection) => Promise<T>,
): Promise<T> {
  await connection.run(`attach ${literal(join(snapshot, WAREHOUSE))} as warehouse`);
  await connection.run('use warehouse');
  const beside = await connect();
  let result: T;
  try {
    // In one transaction, so that the file is synced once and not for every view.
    const views = lakeTableNames().map((table) => viewOn(snapshot, table));
    await inTransaction(connection, views);
    await beside.run('use warehouse');
    result = await work(beside);
  } catch (error) {
    beside.closeSync();
    // What went wrong first is what is told.
    await leave(connection).catch(() => undefined);
    throw error;
  }
  beside.closeSync();
  await leave(connection);
  return result;
}

/** A table or mart, as its view is commented on. */
export interface Described {
  readonly name: string;
  readonly description: string;
  readonly grain: string;
  readonly columns: readonly {
    readonly name: string;
    readonly description: string;
    readonly unit?: string | undefined;
  }[];
}

/** Writes descriptions of tables and columns as comments on the views of the warehouse that the connection is in. */
export async function commentViews(connection: DuckDBConnection, entries: readonly Described[]) {
  const comments = entries.flatMap(({ name, description, grain, columns }) => [
    commentOn(`${description} (${grain})`, name),
    ...columns.map((column) => {
      const unit = column.unit === undefined ? '' : ` [${column.unit}]`;
      return commentOn(column.description + unit, name, column.name);
    }),
  ]);
  await inTransaction(connection, comments);
}

/** Names and types of the columns of every table and view of the database that the connection is in. */
export async function readViews(connection: DuckDBConnection) {
  const found = await rows(
    connection,
    `select table_name, column_name, data_type from duckdb_columns()
     where database_name = current_database() order by table_name, column_index`,
  );
  const views: Record<string, { readonly columns: Column[]; readonly rows: 0 }> = {};
  for (const { table_name, column_name, data_type } of found) {
    views[String(table_name)] ??= { columns: [], rows: 0 };
    views[String(table_name)]?.columns.push({ name: String(column_name), type: String(data_type) });
  }
  return views;
}

async function leave(connection: DuckDBConnection): Promise<void> {
  await connection.run('use memory');
  await connection.run('detach warehouse');
}
