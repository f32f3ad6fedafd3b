import { createWriteStream, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DuckDBConnection, DuckDBValueConverter } from '@duckdb/node-api';
import { RecordBatchFileWriter } from 'apache-arrow';
import { checksumOf } from '../land/files.js';
import { arrowBatch, arrowSchema, WrittenBytes } from '../query/arrow.js';
import { csvHeader, csvLine } from '../query/csv.js';
import { arrowValue, jsonValue } from '../query/instants.js';
import { type Columns, joined, openResult, type Rows } from '../query/result.js';

/** A data file of an export. */
export interface DataFile {
  /** Path below the folder of the export, with slashes. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256 in hex. */
  readonly sha256: string;
}

/** A file that a writer has closed, before it has its name. */
export interface WrittenPart {
  /** Absolute path. */
  readonly path: string;
  readonly rows: number;
}

/**
 * Gives the parts of a table their names, `data/lots.csv` where there is one and `data/lots-0001.csv` and so on where
 * there are more, and takes their sizes and checksums.
 * @param folder of the export, which has a folder `data`
 */
export async function nameParts(
  folder: string,
  table: string,
  extension: string,
  parts: readonly WrittenPart[],
): Promise<DataFile[]> {
  const named: DataFile[] = [];
  for (const [i, part] of parts.entries()) {
    const number = parts.length === 1 ? '' : `-${String(i + 1).padStart(4, '0')}`;
    const path = `data/${table}${number}.${extension}`;
    const absolute = join(folder, path);
    renameSync(part.path, absolute);
    const sha256 = await checksumOf(absolute);
    named.push({ path, rows: part.rows, bytes: statSync(absolute).size, sha256 });
  }
  return named;
}

/**
 * Writes the rows of a query as CSV (see {@link csvField}), in their order. No file has more than `maxBytes`, unless its
 * header and one row have.
 * @param folder for the parts; it is made
 * @param bom begin each file with a byte order mark
 */
export async function writeCsv(
  connection: DuckDBConnection,
  sql: string,
  folder: string,
  { maxBytes, bom }: { readonly maxBytes: number; readonly bom: boolean },
): Promise<WrittenPart[]> {
  return writeParts(connection, sql, folder, jsonValue, async function* (columns, next, part) {
    const head = `${bom ? '\uFEFF' : ''}${csvHeader(columns)}`;
    yield Buffer.from(head);
    let room = maxBytes - Buffer.byteLength(head);
    for (let rows = await next(); rows !== undefined; rows = await next()) {
      const lines = rows.map((row) => csvLine(row, columns));
      const fitting = fittingLines(lines, room, part.rows === 0 ? 1 : 0);
      const text = Buffer.from(lines.slice(0, fitting).join(''));
      part.rows += fitting;
      room -= text.length;
      yield text;
      if (fitting === lines.length) continue;
      part.left = rows.slice(fitting);
      return;
    }
  });
}

/** How many lines fit into some bytes; no fewer than `least`. */
function fittingLines(lines: readonly string[], room: number, least: number): number {
  let left = room;
  const beyond = lines.findIndex((line, i) => {
    left -= Buffer.byteLength(line);
    return left < 0 && i >= least;
  });
  return beyond === -1 ? lines.length : beyond;
}

/**
 * Writes the rows of a query as Arrow IPC files, in their order; a file is closed with the rows that bring it to
 * `maxBytes`.
 * @param folder for the parts; it is made
 */
export async function writeArrow(
  connection: DuckDBConnection,
  sql: string,
  folder: string,
  { maxBytes }: { readonly maxBytes: number },
): Promise<WrittenPart[]> {
  return writeParts(connection, sql, folder, arrowValue, async function* (columns, next, part) {
    const schema = arrowSchema(columns);
    const written = new WrittenBytes();
    const writer = new RecordBatchFileWriter();
    writer.reset(written, schema);
    writer.write(arrowBatch(columns, [], schema));
    yield* written.take();
    while (written.total < maxBytes) {
      const rows = await next();
      if (rows === undefined) break;
      writer.write(arrowBatch(columns, rows, schema));
      part.rows += rows.length;
      yield* written.take();
    }
    writer.close();
    yield* written.take();
  });
}

/** A file that is being written. */
interface OpenPart extends WrittenPart {
  rows: number;
  /** Rows that did not fit; the next file begins with them. */
  left?: Rows;
}

/** Gives the bytes of one file; takes rows with `next` until there are none or the file is full. */
type WritePart = (
  columns: Columns,
  next: () => Promise<Rows | undefined>,
  part: OpenPart,
) => AsyncGenerator<Uint8Array, void, undefined>;

/** Rows that are in memory at once, roughly. */
const ROWS_AT_ONCE = 4_096;

/**
 * Writes the rows of a query, in their order, into one file after the other; into one at least.
 * @param folder for the parts; it is made
 */
async function writeParts(
  connection: DuckDBConnection,
  sql: string,
  folder: string,
  converter: DuckDBValueConverter<unknown>,
  writePart: WritePart,
): Promise<WrittenPart[]> {
  mkdirSync(folder);
  const result = await openResult(connection, { sql, select: sql });
  const pieces = joined(result.rows(converter), ROWS_AT_ONCE);
  let ahead: Rows | undefined;
  const next = async (): Promise<Rows | undefined> => {
    const rows = ahead ?? (await pieces.next()).value;
    ahead = undefined;
    return rows;
  };
  const parts: WrittenPart[] = [];
  do {
    const part: OpenPart = { path: join(folder, `part-${parts.length}`), rows: 0 };
    const bytes = Readable.from(writePart(result.columns, next, part));
    await pipeline(bytes, createWriteStream(part.path));
    parts.push({ path: part.path, rows: part.rows });
    ahead = part.left ?? (await next());
  } while (ahead !== undefined);
  return parts;
}
