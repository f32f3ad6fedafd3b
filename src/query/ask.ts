import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { packageRoot } from '../config/package-root.js';
import { type Row, rows } from '../duck/session.js';
import { readModels } from '../model/model-files.js';

/** A file of `sql`, such as `report/report.yml`. */
export const readSql = (path: string): string => readFileSync(join(packageRoot, 'sql', path), 'utf8');

/** The rows of a query of `sql`, such as `report/headline`, with the values of its parameters. */
export const ask = (
  connection: DuckDBConnection,
  query: string,
  values?: Parameters<typeof rows>[2],
): Promise<Row[]> => rows(connection, readSql(`${query}.sql`), values);

/** Tables and marts that queries of `sql` read: marts, `runs`, `passes`, `lots` and `vehicles` only. */
export function tablesOf(queries: readonly string[]): string[] {
  const known = ['runs', 'passes', 'lots', 'vehicles', ...readModels().map(({ name }) => name)];
  const read = queries.flatMap((query) => readSql(`${query}.sql`).match(/(?<=\b(from|join) )\w+/g) ?? []);
  return known.filter((name) => read.includes(name));
}
