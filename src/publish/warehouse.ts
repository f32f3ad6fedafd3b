import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { viewOn } from '../lake/files.js';
import { WAREHOUSE } from '../lake/layout.js';
import { ownTables } from '../lake/own-tables.js';
import { inTransaction, literal, type Session } from '../lake/session.js';
import { lakeTables } from '../lake/tables.js';

/** Names of all lake tables and whether each is partitioned, in the order in which they are listed. */
export function lakeTableNames(): readonly { readonly name: string; readonly partitioned: boolean }[] {
  return [
    ...lakeTables().map((table) => ({ name: table.name, partitioned: table.partition !== undefined })),
    ...ownTables.map((table) => ({ name: table.name, partitioned: table.partitioned })),
  ];
}

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

async function leave(connection: DuckDBConnection): Promise<void> {
  await connection.run('use memory');
  await connection.run('detach warehouse');
}
