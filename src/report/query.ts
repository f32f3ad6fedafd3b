import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { packageRoot } from '../config/package-root.js';
import { type Row, rows } from '../duck/session.js';
import { readModels } from '../model/model-files.js';

const folder = join(packageRoot, 'sql', 'report');

/** A file of `sql/report`. */
export const readSpec = (name: string): string => readFileSync(join(folder, name), 'utf8');

/** The rows of a query of `sql/report`. */
export const ask = (connection: DuckDBConnection, query: string): Promise<Row[]> =>
  rows(connection, readSpec(`${query}.sql`));

/** Tables and marts that queries of `sql/report` read: marts, `runs`, `passes`, `lots` and `vehicles` only. */
export function tablesOf(queries: readonly string[]): string[] {
  const known = ['runs', 'passes', 'lots', 'vehicles', ...readModels().map(({ name }) => name)];
  const read = queries.flatMap((query) => readSpec(`${query}.sql`).match(/(?<=\b(from|join) )\w+/g) ?? []);
  return known.filter((name) => read.includes(name));
}
