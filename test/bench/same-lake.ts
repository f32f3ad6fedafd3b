import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { identifier } from '../../src/base/duck/session.js';
import { writtenRelation } from '../../src/core/lake/files.js';
import { readManifest } from '../../src/core/lake/manifest.js';

/** Columns and tables that name runs, passes, files or durations. These differ in any two runs. */
const OWN_COLUMNS = /^(run_id|pass_id|snapshot_id)$/;
const OWN_TABLES = new Set(['runs', 'passes']);

/**
 * Compares two lakes that loaded the same answers at the same times: the number of rows and the sum of their hashes,
 * with floating-point values to nine digits, because the order in which rows are added can change the last digits.
 * @returns the tables that differ, and how many were compared
 */
export async function compareLakes(
  a: string,
  b: string,
): Promise<{ readonly compared: number; readonly differing: readonly string[] }> {
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '4GB' });
  const connection = await instance.connect();
  await connection.run("set TimeZone = 'UTC'");
  const folders = [a, b].map((output) => realpathSync(join(output, 'lake', 'current')));
  const [first = ''] = folders;
  const { tables, marts } = readManifest(first);
  const differing: string[] = [];
  let compared = 0;
  for (const [name, { columns, partitioned }] of Object.entries({ ...tables, ...marts })) {
    if (OWN_TABLES.has(name)) continue;
    const values = columns
      .filter((column) => !OWN_COLUMNS.test(column.name))
      .map(({ name: column, type }) =>
        type === 'DOUBLE' ? `printf('%.9g', ${identifier(column)})` : identifier(column),
      );
    const sums: string[] = [];
    for (const folder of folders) {
      const reader = await connection.runAndReadAll(
        `select count(*), sum(cast(hash(${values.join(', ')}) as hugeint)) from ${writtenRelation(folder, name, partitioned)}`,
      );
      sums.push(String(reader.getRows()[0]));
    }
    compared += 1;
    if (sums[0] !== sums[1]) differing.push(`${name} (${sums.join(' and ')})`);
  }
  connection.closeSync();
  instance.closeSync();
  return { compared, differing };
}
