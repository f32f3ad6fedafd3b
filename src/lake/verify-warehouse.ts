import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { messageOf } from '../config/lotlake-error.js';
import { WAREHOUSE } from './layout.js';
import type { Manifest } from './manifest.js';
import { identifier, literal, rows, scalar } from './session.js';
import { allTables, type Problem } from './verify-files.js';

/** Reads every view and table of a snapshot's `warehouse.duckdb` and compares the rows with the manifest. */
export async function verifyWarehouse(
  connection: DuckDBConnection,
  snapshot: string,
  manifest: Manifest,
): Promise<readonly Problem[]> {
  const path = join(snapshot, WAREHOUSE);
  if (!existsSync(path)) return [problem('snapshot', 'a database', 'no file')];
  try {
    await connection.run(`attach ${literal(path)} as warehouse (read_only)`);
  } catch (error) {
    return [problem('snapshot', 'a database that opens', messageOf(error))];
  }
  try {
    const problems = await strangeViews(connection, snapshot);
    for (const [name, table] of Object.entries(allTables(manifest))) {
      const found = await countIn(connection, name);
      if (found !== `${table.rows} rows`) problems.push(problem(name, `${table.rows} rows`, found));
    }
    return problems;
  } finally {
    await connection.run('detach warehouse');
  }
}

const problem = (table: string, expected: string, found: string): Problem => ({
  table,
  file: WAREHOUSE,
  check: 'warehouse',
  expected,
  found,
});

async function countIn(connection: DuckDBConnection, name: string): Promise<string> {
  try {
    return `${await scalar(connection, `select count(*) from warehouse.${identifier(name)}`)} rows`;
  } catch (error) {
    return messageOf(error);
  }
}

/** Views hold the absolute path of the folder in which they were made: those of a lake that was moved read the old one. */
async function strangeViews(connection: DuckDBConnection, snapshot: string): Promise<Problem[]> {
  const views = await rows(
    connection,
    `select view_name, regexp_extract(sql, '''(.*?)/' || view_name || '/\\*\\*', 1) as folder
     from duckdb_views() where database_name = 'warehouse' and not internal`,
  );
  const folders = new Set(
    views
      .map((row) => String(row.folder).replaceAll("''", "'"))
      .filter((folder) => !isSame(folder, snapshot)),
  );
  return [...folders].map((folder) => problem('snapshot', `views on ${snapshot}`, `views on ${folder}`));
}

function isSame(folder: string, snapshot: string): boolean {
  return existsSync(folder) && realpathSync(folder) === realpathSync(snapshot);
}
