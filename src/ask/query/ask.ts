import type { DuckDBConnection } from '@duckdb/node-api';
import { packageFile } from '../../base/config/package-root.js';
import { type Row, rows } from '../../base/duck/session.js';
import { withReferences } from '../../core/model/references.js';

const readSql = (query: string): string => packageFile(`sql/${query}.sql`);

/** Runs a query file of `sql`, such as `report/headline`, with the values of its parameters. */
export const ask = (
  connection: DuckDBConnection,
  query: string,
  values?: Parameters<typeof rows>[2],
): Promise<Row[]> => rows(connection, readSql(query), values);

/** Tables and marts that query files of `sql` read, each once. DuckDB parses the files. */
export async function tablesOf(
  connection: DuckDBConnection,
  queries: readonly string[],
): Promise<readonly string[]> {
  const selects = queries.map((query) => ({ name: query, sql: readSql(query) }));
  const read = await withReferences(connection, selects);
  return [...new Set(read.flatMap(({ references }) => references))].sort();
}
