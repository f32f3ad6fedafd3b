import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { packageFile } from '../../base/config/package-root.js';
import { type Row, rows } from '../../base/duck/session.js';
import { withReferences } from '../../core/model/references.js';

/** The text of a query file of `sql`, such as `explore/auctions`, to which a caller adds an order or a limit. */
export const readSql = (query: string): string => packageFile(`sql/${query}.sql`);

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

/** Throws QUERY_NO_TABLE for a query that found no such mart or column in a snapshot, and any other error as it is. */
export function failOlder(error: unknown): never {
  if (!/^(Catalog|Binder) Error/.test(messageOf(error))) throw error;
  throw new LotlakeError('QUERY_NO_TABLE', 'the snapshot lacks marts that this version of lotlake reads', {
    cause: error,
    hint: 'another version of lotlake made it; the next run computes its marts again, lotlake run rebuild does so now',
  });
}
