import type { DuckDBConnection } from '@duckdb/node-api';
import { packageFile } from '../config/package-root.js';
import { type Row, rows } from '../duck/session.js';
import { readModels } from '../model/model-files.js';

const readSql = (query: string): string => packageFile(`sql/${query}.sql`);

/** Runs a query file of `sql`, such as `report/headline`, with the values of its parameters. */
export const ask = (
  connection: DuckDBConnection,
  query: string,
  values?: Parameters<typeof rows>[2],
): Promise<Row[]> => rows(connection, readSql(query), values);

/** Tables and marts that query files of `sql` read. Of the tables, it knows `runs`, `passes`, `lots` and `vehicles`. */
export function tablesOf(queries: readonly string[]): string[] {
  const known = ['runs', 'passes', 'lots', 'vehicles', ...readModels().map(({ name }) => name)];
  const read = queries.flatMap((query) => readSql(query).match(/(?<=\b(from|join) )\w+/g) ?? []);
  return known.filter((name) => read.includes(name));
}
