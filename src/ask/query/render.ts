import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { remove } from '../../base/config/owned.js';
import { literal } from '../../base/duck/session.js';
import { failQuery, HINTS, type ReadQuery, refused } from '../../core/model/read-only.js';
import { csvHeader, csvLine } from './csv.js';
import { type Columns, joined, openResult, type Result, type Rows } from './result.js';
import { arrowValue, jsonValue } from './result-values.js';
import { planText, tableText, type View, verticalText } from './table.js';

/** Formats of a result. */
export const formats = ['table', 'vertical', 'json', 'csv', 'arrow', 'parquet'] as const;

export type Format = (typeof formats)[number];

/**
 * Runs a query and yields its result piece by piece: bytes for `arrow` and `parquet`, text for the others. It holds a few
 * thousand rows in memory. Parquet ends with its index, so it is written to a file first.
 * @param temp folder in which the connection may write
 */
export async function* render(
  connection: DuckDBConnection,
  query: ReadQuery,
  format: Format,
  { temp, view }: { readonly temp: string; readonly view: View },
): AsyncGenerator<string | Uint8Array> {
  if (format === 'parquet') return yield* parquet(connection, query, temp);
  const result = await openResult(connection, query);
  const { columns } = result;
  if (format === 'arrow') {
    // Takes a quarter of the start of a query.
    const { arrowStream } = await import('./arrow.js');
    yield* arrowStream(columns, joined(result.rows(arrowValue), ROWS_OF_A_BATCH));
  } else if (format === 'json') yield* json(columns, result.rows(jsonValue));
  else if (format === 'csv') yield* csv(columns, result.rows(jsonValue));
  else yield await preview(query, format, result, view);
}

/** Rows of a record batch; a reader pays for each batch. */
const ROWS_OF_A_BATCH = 16_384;

async function* json(columns: Columns, pieces: AsyncIterable<Rows>): AsyncGenerator<string> {
  let before = '[';
  for await (const rows of pieces) {
    const objects = rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]])));
    yield `${before}${JSON.stringify(objects).slice(1, -1)}`;
    before = ',';
  }
  yield before === '[' ? '[]\n' : ']\n';
}

async function* csv(columns: Columns, pieces: AsyncIterable<Rows>): AsyncGenerator<string> {
  yield csvHeader(columns);
  for await (const rows of pieces) yield rows.map((row) => csvLine(row, columns)).join('');
}

/** The first rows for a person, and how many there are. */
async function preview(query: ReadQuery, format: Format, result: Result, view: View): Promise<string> {
  const first: (readonly unknown[])[] = [];
  let total = 0;
  for await (const rows of result.rows(jsonValue)) {
    first.push(...rows.slice(0, view.rows - first.length));
    total += rows.length;
    if (total >= view.rows) break;
  }
  total += await result.countRest();
  if (query.sql !== query.select) return planText(first);
  if (format === 'vertical') return verticalText(result.columns, first, total);
  return tableText(result.columns, first, total, view);
}

async function* parquet(
  connection: DuckDBConnection,
  query: ReadQuery,
  temp: string,
): AsyncGenerator<Uint8Array> {
  if (query.sql !== query.select) throw refused('a plan has no form in Parquet', HINTS.plan);
  const path = join(temp, `${randomUUID()}.parquet`);
  // Passed as a string, the query may end with a comment or a semicolon.
  const copy = `copy (from query(${literal(query.select)})) to ${literal(path)} (format parquet, compression zstd)`;
  try {
    await connection.run(copy).catch(failQuery);
    yield* createReadStream(path, { highWaterMark: 1 << 18 });
  } finally {
    remove(path);
  }
}
