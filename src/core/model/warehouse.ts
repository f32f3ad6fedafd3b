import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { inDatabase, inTransaction, type Session } from '../../base/duck/session.js';
import { fileSizes } from '../lake/files.js';
import { WAREHOUSE } from '../lake/layout.js';
import { type LakeTable, lakeTables, systemTables } from '../lake/tables.js';
import { commentOn, viewOn } from '../lake/views.js';

/**
 * Runs `work` in the snapshot's own database, which has a view for each lake table and keeps what `work` creates. The
 * database is written out and closed when `work` ends.
 * @param work gets a second connection to the database, to run statements in parallel with the first
 */
export async function inWarehouse<T>(
  { connection, connect }: Pick<Session, 'connection' | 'connect'>,
  snapshot: string,
  work: (beside: DuckDBConnection) => Promise<T>,
): Promise<T> {
  return inDatabase(connection, join(snapshot, WAREHOUSE), 'warehouse', async () => {
    const beside = await connect();
    try {
      const views = [...lakeTables(), ...systemTables].map(({ name, partition }) =>
        viewOn(snapshot, { name, partitioned: partition !== undefined, files: fileSizes(snapshot, name) }),
      );
      // In one transaction, so that the file is synced once and not for every view.
      await inTransaction(connection, views);
      await beside.run('use warehouse');
      return await work(beside);
    } finally {
      beside.closeSync();
    }
  });
}

/** A table or mart with the descriptions for its view, and the layer of a mart. */
export interface Described extends Pick<LakeTable, 'name' | 'description' | 'grain'> {
  readonly layer?: string | undefined;
  readonly columns: readonly { name: string; description: string; unit?: string | undefined }[];
}

/** Writes descriptions of tables and columns as comments on the views of the warehouse that the connection is in. */
export async function commentViews(connection: DuckDBConnection, entries: readonly Described[]) {
  const comments = entries.flatMap(({ name, layer, description, grain, columns }) => [
    commentOn(`${layer === undefined ? '' : `[${layer}] `}${description} (${grain})`, name),
    ...columns.map((column) => {
      const unit = column.unit === undefined ? '' : ` [${column.unit}]`;
      return commentOn(column.description + unit, name, column.name);
    }),
  ]);
  await inTransaction(connection, comments);
}
