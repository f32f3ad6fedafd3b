import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import { literal } from '../../base/duck/session.js';
import { type OpenLake, openSnapshot } from '../query/open-lake.js';

/** An open snapshot for the work of one process. */
export interface JobLake {
  readonly connection: DuckDBConnection;
  readonly lake: OpenLake;
  readonly config: Config;
}

/**
 * Opens a snapshot that another process shows.
 * @param database its database with the lots on offer, which is read too
 */
export async function openJobLake(config: Config, snapshot: string, database: string): Promise<JobLake> {
  // DuckDB looks for a log, which a database that is only read has not.
  const beside = [database, `${database}.wal`];
  const lake = await openSnapshot(config, { choice: { snapshot }, beside });
  const { connection } = lake.session;
  await connection.run(`attach ${literal(database)} as explore (read_only)`);
  return { connection, lake, config };
}
