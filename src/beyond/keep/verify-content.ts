import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { messageOf } from '../../base/config/lotlake-error.js';
import { identifier, literal, type Row, rows, sameKey, scalar } from '../../base/duck/session.js';
import { filesRelation, partitionOf } from '../../core/lake/files.js';
import { allTables, type LakeFile, type Manifest, type ManifestTable } from '../../core/lake/manifest.js';
import type { Problem } from '../../core/lake/presence.js';
import { type Column, columnsOf } from '../../core/lake/schema.js';

/** Compares what the files of a snapshot hold with its manifest: rows, columns and types, and keys that repeat. */
export async function verifyContent(
  connection: DuckDBConnection,
  snapshot: string,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const [name, described] of Object.entries(allTables(manifest))) {
    signal.throwIfAborted();
    const table = { name, ...described };
    const filled: LakeFile[] = [];
    for (const file of table.files.filter(({ path }) => existsSync(join(snapshot, path)))) {
      const found = await fileProblems(connection, snapshot, table, file);
      problems.push(...found);
      if (file.rows > 0 && !found.some(({ check }) => check === 'readable')) filled.push(file);
    }
    if (filled.length > 0) problems.push(...(await keyProblems(connection, snapshot, table, filled)));
  }
  return problems;
}

type Named = ManifestTable & { readonly name: string };

/** Compares the rows and columns of a file with the manifest. */
async function fileProblems(connection: DuckDBConnection, snapshot: string, table: Named, file: LakeFile) {
  const place = { table: table.name, file: file.path };
  const path = literal(join(snapshot, file.path));
  const problems: Problem[] = [];
  try {
    const counted = Number(await scalar(connection, `select num_rows from parquet_file_metadata(${path})`));
    if (counted !== file.rows)
      problems.push({ ...place, check: 'rows', expected: `${file.rows}`, found: `${counted}` });
    const describe = ({ name: column, type }: Column): string => `${column} ${type}`;
    const select = `select * from read_parquet(${path}, hive_partitioning = false)`;
    const found = (await columnsOf(connection, select)).map(describe);
    const expected = expectedColumns(table, file).map(describe);
    if (found.join() !== expected.join())
      problems.push({ ...place, check: 'schema', ...differing(expected, found) });
    return problems;
  } catch (error) {
    const expected = 'a Parquet file';
    return [{ ...place, check: 'readable', expected, found: messageOf(error) } satisfies Problem];
  }
}

/** Columns that a file holds: the table's columns that are not in its path. A file without rows has all of them. */
function expectedColumns(table: ManifestTable, file: LakeFile): readonly Column[] {
  const columns = table.partitioned ? [...table.columns, { name: 'month', type: 'VARCHAR' }] : table.columns;
  const inPath = partitionOf(file).split('/');
  return columns.filter(({ name }) => !inPath.some((part) => part.split('=')[0] === name));
}

/** The columns that only one of two lists has; both lists if only their order differs. */
function differing(expected: string[], found: string[]): Pick<Problem, 'expected' | 'found'> {
  const missing = expected.filter((column) => !found.includes(column));
  const more = found.filter((column) => !expected.includes(column));
  if (missing.length + more.length === 0) return { expected: expected.join(', '), found: found.join(', ') };
  return { expected: missing.join(', ') || 'no other column', found: more.join(', ') || 'no such column' };
}

async function keyProblems(
  connection: DuckDBConnection,
  snapshot: string,
  table: Named,
  files: readonly LakeFile[],
): Promise<Problem[]> {
  const key = table.key.map(identifier).join(', ');
  const relation = filesRelation(snapshot, files, table.partitioned);
  const expected = `one row for each (${table.key.join(', ')})`;
  const problem = (found: string): Problem[] => [
    { table: table.name, file: null, check: 'key', expected, found },
  ];
  try {
    const [first] = await rows(
      connection,
      `with repeated as materialized (
        select ${key}, count(*) as _copies from ${relation} group by all having count(*) > 1
      )
      select r.*, (select count(*) from repeated) as _keys, list(distinct f.filename order by f.filename) as _files
      from (from repeated order by all limit 1) as r join ${filesRelation(snapshot, files, table.partitioned, true)} as f on ${sameKey(table.key, 'f', 'r')} group by all`,
    );
    return first === undefined ? [] : problem(repeatedKeys(first, table.key, snapshot));
  } catch (error) {
    return problem(`cannot be read: ${messageOf(error)}`);
  }
}

function repeatedKeys(first: Row, key: readonly string[], snapshot: string): string {
  const values = key.map((column) => `${column} ${String(first[column])}`).join(', ');
  const files = [first._files].flat().map((path) => String(path).slice(snapshot.length + 1));
  return `${Number(first._keys)} keys more than once; ${values}: ${Number(first._copies)} rows in ${files.join(', ')}`;
}
