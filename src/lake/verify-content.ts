import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { messageOf } from '../config/lotlake-error.js';
import { identifier, literal, literals, type Row, rows } from '../duck/session.js';
import { filesRelation, partitionOf } from './files.js';
import { allTables, type LakeFile, type Manifest, type ManifestTable } from './manifest.js';
import type { Column } from './schema.js';
import type { Problem } from './verify.js';

/** Compares what the files of a snapshot hold with its manifest: rows, columns and types, and keys that repeat. */
export async function verifyContent(
  connection: DuckDBConnection,
  snapshot: string,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const [name, table] of Object.entries(allTables(manifest))) {
    signal.throwIfAborted();
    problems.push(...(await verifyTable({ connection, snapshot, name, table })));
  }
  return problems;
}

interface Verified {
  readonly connection: DuckDBConnection;
  readonly snapshot: string;
  readonly name: string;
  readonly table: ManifestTable;
}

async function verifyTable(verified: Verified): Promise<Problem[]> {
  const { snapshot, name, table } = verified;
  const present = table.files.filter((file) => existsSync(join(snapshot, file.path)));
  const footers = await footersOf(verified, present);
  const readable = footers.filter(({ error }) => error === undefined);
  const problems: Problem[] = [
    ...footers.flatMap((footer) => footerProblem(name, footer) ?? []),
    ...(await schemaProblems(verified, readable)),
  ];
  const filled = readable.map(({ file }) => file).filter((file) => file.rows > 0);
  return filled.length === 0 ? problems : [...problems, ...(await keyProblems(verified, filled))];
}

/** What the footer of a Parquet file says. */
interface Footer {
  readonly file: LakeFile;
  readonly rows: number;
  /** Tells files of one schema from those of another. */
  readonly signature: string;
  /** Why the file cannot be read. */
  readonly error?: string;
}

/** Reads all footers in one statement, and one by one where a file cannot be read. */
async function footersOf(verified: Verified, files: readonly LakeFile[]): Promise<Footer[]> {
  if (files.length === 0) return [];
  const paths = literals(files.map((file) => join(verified.snapshot, file.path)));
  try {
    const found = await rows(
      verified.connection,
      `select file_name, any_value(num_rows) as num_rows, any_value(signature) as signature
       from parquet_file_metadata(${paths}) join (
         select file_name, md5(string_agg(concat_ws(' ', name, type, num_children, converted_type, logical_type), ',' order by column_id)) as signature
         from parquet_schema(${paths}) group by file_name
       ) using (file_name) group by file_name`,
    );
    const byName = new Map(found.map((row) => [String(row.file_name), row]));
    return files.map((file) => {
      const row = byName.get(join(verified.snapshot, file.path));
      return { file, rows: Number(row?.num_rows), signature: String(row?.signature) };
    });
  } catch (error) {
    const [only] = files;
    if (files.length === 1 && only !== undefined)
      return [{ file: only, rows: 0, signature: '', error: messageOf(error) }];
    const footers: Footer[] = [];
    for (const file of files) footers.push(...(await footersOf(verified, [file])));
    return footers;
  }
}

function footerProblem(table: string, { file, rows: found, error }: Footer): Problem | undefined {
  const place = { table, file: file.path };
  if (error !== undefined) return { ...place, check: 'readable', expected: 'a Parquet file', found: error };
  return found === file.rows
    ? undefined
    : { ...place, check: 'rows', expected: `${file.rows}`, found: `${found}` };
}

async function schemaProblems(verified: Verified, footers: readonly Footer[]): Promise<Problem[]> {
  const bySignature = new Map<string, string>();
  const problems: Problem[] = [];
  for (const { file, signature } of footers) {
    const found = bySignature.get(signature) ?? (await columnsOf(verified, file));
    bySignature.set(signature, found);
    const expected = columnList(expectedColumns(verified.table, file));
    const place = { table: verified.name, file: file.path, check: 'schema' } as const;
    if (found !== expected) problems.push({ ...place, ...differing(expected, found) });
  }
  return problems;
}

async function columnsOf({ connection, snapshot }: Verified, file: LakeFile): Promise<string> {
  const path = literal(join(snapshot, file.path));
  const sql = `describe select * from read_parquet(${path}, hive_partitioning = false)`;
  const described = await rows(connection, sql);
  return columnList(
    described.map((row) => ({ name: String(row.column_name), type: String(row.column_type) })),
  );
}

/** Columns that a file holds: those of the table without the ones in its path; a file without rows has all of them. */
function expectedColumns(table: ManifestTable, file: LakeFile): readonly Column[] {
  const inPath = new Set(
    partitionOf(file)
      .split('/')
      .map((part) => part.split('=')[0]),
  );
  const columns = table.partitioned ? [...table.columns, { name: 'month', type: 'VARCHAR' }] : table.columns;
  return columns.filter(({ name }) => !inPath.has(name));
}

const columnList = (columns: readonly Column[]): string =>
  columns.map(({ name, type }) => `${name} ${type}`).join(', ');

/** The columns that only one of two lists has; both lists where they differ in order alone. */
function differing(expected: string, found: string): Pick<Problem, 'expected' | 'found'> {
  const [a, b] = [expected.split(', '), found.split(', ')];
  const only = (from: string[], other: string[]) =>
    from.filter((column) => !other.includes(column)).join(', ');
  const [missing, more] = [only(a, b), only(b, a)];
  if (missing === '' && more === '') return { expected, found };
  return { expected: missing || 'no other column', found: more || 'no such column' };
}

async function keyProblems(
  { connection, snapshot, name, table }: Verified,
  files: readonly LakeFile[],
): Promise<Problem[]> {
  const key = table.key.map(identifier).join(', ');
  const relation = filesRelation(snapshot, files, table.partitioned);
  const expected = `one row for each (${table.key.join(', ')})`;
  const problem = (found: string): Problem[] => [{ table: name, file: null, check: 'key', expected, found }];
  try {
    const repeated = await rows(
      connection,
      `select *, count(*) over () as _keys from (
        select ${key}, count(*) as _copies from ${relation} group by all having count(*) > 1
      ) order by all limit 1`,
    );
    const [first] = repeated;
    if (first === undefined) return [];
    const matches = table.key.map(
      (column) => `${identifier(column)} is not distinct from r.${identifier(column)}`,
    );
    const places = await rows(
      connection,
      `select distinct filename from ${relation} as f
       join (select ${key} from ${relation} group by all having count(*) > 1 order by all limit 1) as r on ${matches.map((match) => `f.${match}`).join(' and ')}
       order by all`,
    );
    return problem(repeatedKeys(first, table.key, snapshot, places));
  } catch (error) {
    return problem(`cannot be read: ${messageOf(error)}`);
  }
}

function repeatedKeys(first: Row, key: readonly string[], snapshot: string, places: readonly Row[]): string {
  const values = key.map((column) => `${column} ${String(first[column])}`).join(', ');
  const files = places.map((row) => String(row.filename).slice(snapshot.length + 1)).join(', ');
  return `${Number(first._keys)} keys more than once; ${values}: ${Number(first._copies)} rows in ${files}`;
}
