import { mkdirSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import { literal, rows } from '../duck/session.js';
import { lakeTables } from '../lake/tables.js';
import { metadataOf, WIDE_ROW_GROUP } from '../reconcile/write.js';
import type { WrittenPart } from './data-files.js';
import type { TablePlan } from './plan.js';
import type { ExportRequest } from './request.js';

/** Rows that DuckDB puts into a row group by itself; and those that it works on at once. */
const MOST_ROWS = 122_880;
const LEAST_ROWS = 2_048;

/** compat has no dictionaries: parquetjs-lite turns their values into text. */
const ENCODING = {
  default: 'compression zstd',
  compat: 'compression snappy, dictionary_size_limit 0',
} as const;

/**
 * Writes the rows of a table as Parquet, in their order; a file is closed with the row group that brings it to
 * `maxBytes`.
 * @param folder for the parts; it is made
 * @param rowBytes bytes that a row has in the lake
 * @param snapshot id of the snapshot that is exported, for the metadata of the files
 */
export async function writeParquet(
  connection: DuckDBConnection,
  { name, sql }: Pick<TablePlan, 'name' | 'sql'>,
  folder: string,
  { maxBytes, profile }: Pick<ExportRequest, 'maxBytes' | 'profile'>,
  rowBytes: number,
  snapshot: string,
): Promise<WrittenPart[]> {
  mkdirSync(folder);
  const options = [
    'format parquet',
    'parquet_version v1',
    ENCODING[profile],
    metadataOf(name, snapshot),
    `row_group_size ${Math.min(groupRows(maxBytes, rowBytes), isWide(name) ? WIDE_ROW_GROUP : MOST_ROWS)}`,
    `file_size_bytes ${maxBytes}`,
    "filename_pattern 'part-{i}'",
    'return_stats',
  ];
  const written = await rows(connection, `copy (${sql}) to ${literal(folder)} (${options.join(', ')})`);
  const parts = written.map((part) => ({ path: String(part.filename), rows: Number(part.count) }));
  const inOrder = parts.sort((a, b) => partNumber(a.path) - partNumber(b.path));
  return inOrder.filter((part, i) => part.rows > 0 || i === 0);
}

/** Whether a row has several kilobytes. A writer holds a whole group of rows in memory. */
const isWide = (name: string): boolean =>
  lakeTables().some((table) => table.name === name && table.wide !== undefined);

const partNumber = (path: string): number => Number(/part-(\d+)\.parquet$/.exec(path)?.[1]);

/** Rows of a group. Some twenty groups fill a file, so that the last one does not make it much larger. */
function groupRows(maxBytes: number, rowBytes: number): number {
  const rows = maxBytes / 20 / Math.max(rowBytes, 1);
  return Math.max(1, Math.floor(rows / LEAST_ROWS)) * LEAST_ROWS;
}
