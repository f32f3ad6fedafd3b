import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { messageOf } from '../config/lotlake-error.js';
import { identifier, literal, scalar } from '../duck/session.js';
import { WAREHOUSE } from './layout.js';
import type { Manifest } from './manifest.js';
import { allTables, type Problem, tornIf, tornState } from './verify-files.js';
import { FOLDER, namedFolders } from './views.js';

/**
 * Reads every view and table of a snapshot's `warehouse.duckdb` and compares the rows with the manifest. Views that name
 * another folder, in a lake that was moved and cannot be written, are a warning: they read this folder all the same, and
 * are not read at all where they are of an earlier lotlake.
 */
export async function verifyWarehouse(
  connection: DuckDBConnection,
  snapshot: string,
  manifest: Manifest,
): Promise<{ readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] }> {
  const path = join(snapshot, WAREHOUSE);
  if (!existsSync(path)) return { problems: [problem('snapshot', 'a database', 'no file')], warnings: [] };
  try {
    await connection.run(`attach ${literal(path)} as warehouse (read_only)`);
  } catch (error) {
    const torn =
      tornState(path) ?? (isCut(path) ? `a file that ends at byte ${statSync(path).size}` : undefined);
    const found = problem('snapshot', 'a database that opens', torn ?? messageOf(error));
    return { problems: [{ ...found, ...tornIf(torn !== undefined) }], warnings: [] };
  }
  try {
    const { strange, canBeTold } = await namedFolders(connection, 'warehouse', snapshot);
    const help = canBeTold
      ? `set variable ${FOLDER} = ${literal(snapshot)}`
      : 'open the lake once with lotlake where it can be written';
    const warnings = strange.map((folder) =>
      problem('snapshot', `views on ${snapshot}`, `views on ${folder}; ${help}`),
    );
    if (strange.length > 0 && !canBeTold) return { problems: [], warnings };
    await connection.run(`set variable ${FOLDER} = ${literal(snapshot)}`);
    const problems: Problem[] = [];
    for (const [name, table] of Object.entries(allTables(manifest))) {
      const found = await countIn(connection, name);
      if (found !== `${table.rows} rows`) problems.push(problem(name, `${table.rows} rows`, found));
    }
    return { problems, warnings };
  } finally {
    await connection.run(`reset variable ${FOLDER}`);
    await connection.run('detach warehouse');
  }
}

/** A database is three headers of 4 KiB and whole blocks of 256 KiB. */
const isCut = (path: string): boolean => (statSync(path).size - 3 * 4096) % (1 << 18) !== 0;

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
