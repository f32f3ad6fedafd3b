import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { RecordBatchFileWriter } from 'apache-arrow';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { append, makeNewFolder, move, remove, writeNew } from '../../base/config/owned.js';
import { sumOf } from '../../base/config/printable.js';
import { identifier, literal, row as rowOf, rows as rowsOf } from '../../base/duck/session.js';
import { checksumOf } from '../../core/lake/disk.js';
import type { Manifest } from '../../core/lake/manifest.js';
import { metadataOf } from '../../core/lake/parquet.js';
import { lakeTables } from '../../core/lake/tables.js';
import { queryError } from '../../core/model/read-only.js';
import { WIDE_ROW_GROUP } from '../../core/reconcile/write.js';
import { arrowOutput } from '../query/arrow.js';
import { csvHeader, csvLine } from '../query/csv.js';
import { joined, openResult, type Rows } from '../query/result.js';
import { arrowValue, cellValue, jsonValue } from '../query/result-values.js';
import type { TablePlan } from './export-plan.js';
import type { ExportRequest } from './request.js';
import { writeWorkbook } from './workbook.js';

/** A table of an export with its data files and their total rows and bytes. */
export interface ExportedTable extends TablePlan {
  /** Paths below the folder of the export, with SHA-256 in hex. */
  readonly files: readonly {
    readonly path: string;
    readonly rows: number;
    readonly bytes: number;
    readonly sha256: string;
  }[];
  readonly rows: number;
  readonly bytes: number;
  /** Share of the rows in which each column is not null, in their order; null if there are no rows. */
  readonly filled: readonly (number | null)[];
}

/** A data file before it gets its final name; the path is absolute. */
interface Part {
  readonly path: string;
  rows: number;
}

/**
 * Writes the rows of a table into the folder `data` of an export. The files are named `data/lots.csv`, or
 * `data/lots-0001.csv` and so on if there are several. Returns them with rows, bytes and SHA-256 in hex; their paths are
 * relative to the folder of the export.
 */
export async function writeTable(
  connection: DuckDBConnection,
  plan: TablePlan,
  request: ExportRequest,
  manifest: Manifest,
  folder: string,
): Promise<ExportedTable> {
  const beside = join(folder, 'data', `.${plan.name}`);
  const write = { csv: writeCsv, xlsx: writeXlsx, arrow: writeArrow, parquet: writeParquet }[request.format];
  const parts = await write(connection, plan.sql, beside, request, plan.name, manifest).catch((error) => {
    throw error instanceof LotlakeError ? error : queryError(error);
  });
  const files = [];
  for (const [i, { path: made, rows }] of parts.entries()) {
    const number = parts.length === 1 ? '' : `-${String(i + 1).padStart(4, '0')}`;
    const path = `data/${plan.name}${number}.${request.format}`;
    const absolute = join(folder, path);
    move(made, absolute);
    const sha256 = await checksumOf(absolute);
    files.push({ path, rows, bytes: statSync(absolute).size, sha256 });
  }
  // DuckDB may leave an empty file behind the last full one.
  remove(beside);
  const [rows, bytes] = [sumOf(files, (file) => file.rows), sumOf(files, (file) => file.bytes)];
  return { ...plan, files, rows, bytes, filled: await filledOf(connection, plan, rows) };
}

/** The share of rows in which each column is not null. */
async function filledOf(
  connection: DuckDBConnection,
  { sql, columns }: TablePlan,
  rows: number,
): Promise<readonly (number | null)[]> {
  if (rows === 0) return columns.map(() => null);
  const counted = columns.map(({ name }, i) => `count(${identifier(name)}) as "${i}"`);
  const counts = await rowOf(connection, `select ${counted.join(', ')} from (${sql})`);
  return columns.map((_, i) => Number(counts[i]) / rows);
}

/**
 * Writes the rows of a query as CSV (see `csvField`), in their order. No file is larger than `maxBytes`, unless its header
 * and one row are.
 * @param folder for the parts; it is made
 * @param bom begin each file with a byte order mark
 */
export async function writeCsv(
  connection: DuckDBConnection,
  sql: string,
  folder: string,
  { maxBytes, bom }: { readonly maxBytes: number; readonly bom: boolean },
): Promise<Part[]> {
  const { columns, rows } = await openResult(connection, { sql, select: sql });
  const head = `${bom ? '\uFEFF' : ''}${csvHeader(columns)}`;
  const parts: Part[] = [];
  let part = beginPart(folder, parts, head);
  let bytes = Buffer.byteLength(head);
  for await (const piece of rows(jsonValue)) {
    let lines = '';
    for (const row of piece) {
      const line = csvLine(row, columns);
      const more = Buffer.byteLength(line);
      if (bytes + more > maxBytes && part.rows > 0) {
        append(part.path, lines);
        lines = '';
        part = beginPart(folder, parts, head);
        bytes = Buffer.byteLength(head);
      }
      lines += line;
      part.rows++;
      bytes += more;
    }
    append(part.path, lines);
  }
  return parts;
}

/** Rows of a record batch, roughly. */
const ROWS_OF_A_BATCH = 4_096;

/**
 * Writes the rows of a query as Arrow IPC files, in their order. A file ends with the batch that brings it to `maxBytes`.
 * @param folder for the parts; it is made
 */
export async function writeArrow(
  connection: DuckDBConnection,
  sql: string,
  folder: string,
  { maxBytes }: { readonly maxBytes: number },
): Promise<Part[]> {
  const { columns, rows } = await openResult(connection, { sql, select: sql });
  const parts: Part[] = [];
  const pieces = joined(rows(arrowValue), ROWS_OF_A_BATCH);
  let piece = (await pieces.next()).value;
  do {
    const part = beginPart(folder, parts);
    const output = arrowOutput(columns, new RecordBatchFileWriter());
    const add = (bytes: readonly Uint8Array[]) => append(part.path, Buffer.concat(bytes));
    add(output.write([]));
    for (; piece !== undefined; piece = (await pieces.next()).value) {
      if (part.rows > 0 && statSync(part.path).size >= maxBytes) break;
      add(output.write(piece));
      part.rows += piece.length;
    }
    add(output.close());
  } while (piece !== undefined);
  return parts;
}

/**
 * Writes the rows of a query as Excel workbooks, in their order (see `writeWorkbook`).
 * @param folder for the parts; it is made
 * @param name of the sheet
 */
async function writeXlsx(
  connection: DuckDBConnection,
  sql: string,
  folder: string,
  { maxBytes }: { readonly maxBytes: number },
  name: string,
): Promise<Part[]> {
  const { columns, rows } = await openResult(connection, { sql, select: sql });
  const parts: Part[] = [];
  const single = each(rows(cellValue));
  let row = (await single.next()).value;
  do {
    const part = beginPart(folder, parts);
    const { written, following } = await writeWorkbook(part.path, single, row, { columns, name, maxBytes });
    part.rows = written;
    row = following;
  } while (row !== undefined);
  return parts;
}

/** The rows of pieces, one by one. */
async function* each(pieces: AsyncIterable<Rows>): AsyncGenerator<readonly unknown[], undefined> {
  for await (const piece of pieces) yield* piece;
}

/** Starts the next file of a table; the first one makes the folder. */
function beginPart(folder: string, parts: Part[], head?: string): Part {
  if (parts.length === 0) makeNewFolder(folder);
  const part = { path: join(folder, `part-${parts.length}`), rows: 0 };
  if (head !== undefined) writeNew(part.path, head);
  parts.push(part);
  return part;
}

/** DuckDB's default rows of a row group, and the rows that it handles at once. */
const MOST_ROWS = 122_880;
const LEAST_ROWS = 2_048;

/** compat has no dictionaries, because parquetjs-lite turns their values into text. */
const ENCODING = {
  default: 'compression zstd',
  compat: 'compression snappy, dictionary_size_limit 0',
} as const;

/**
 * Writes the rows of a table as Parquet, in their order. A file ends with the row group that brings it to `maxBytes`.
 * @param folder for the parts; it is made
 */
async function writeParquet(
  connection: DuckDBConnection,
  sql: string,
  folder: string,
  { maxBytes, profile }: ExportRequest,
  name: string,
  { tables, marts, snapshot_id }: Manifest,
): Promise<Part[]> {
  makeNewFolder(folder);
  const stored = tables[name] ?? marts[name];
  const rowBytes = (stored?.bytes ?? 0) / Math.max(stored?.rows ?? 0, 1);
  const options = [
    'format parquet',
    'parquet_version v1',
    ENCODING[profile],
    metadataOf(name, snapshot_id),
    `row_group_size ${Math.min(groupRows(maxBytes, rowBytes), isWide(name) ? WIDE_ROW_GROUP : MOST_ROWS)}`,
    `file_size_bytes ${maxBytes}`,
    "filename_pattern 'part-{i}'",
    'return_stats',
  ];
  const written = await rowsOf(connection, `copy (${sql}) to ${literal(folder)} (${options.join(', ')})`);
  const parts = written.map((part) => ({ path: String(part.filename), rows: Number(part.count) }));
  const inOrder = parts.sort((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true }));
  return inOrder.filter((part, i) => part.rows > 0 || i === 0);
}

/** Whether a row has several kilobytes. A writer holds a whole row group in memory. */
const isWide = (name: string): boolean =>
  lakeTables().some((table) => table.name === name && table.wide !== undefined);

/** Rows of a row group. About twenty fill a file, so that the last one does not make it much larger. */
function groupRows(maxBytes: number, rowBytes: number): number {
  const rows = maxBytes / 20 / Math.max(rowBytes, 1);
  return Math.max(1, Math.floor(rows / LEAST_ROWS)) * LEAST_ROWS;
}
