import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { type RecordBatch, RecordBatchFileWriter } from 'apache-arrow';
import { arrowBatch, arrowSchema } from '../arrow.js';
import { csvField, csvHeader, LINE_END } from '../csv.js';
import { numeric, type Result } from '../query.js';
import type { WrittenPart } from './data-file.js';

type Columns = Result['columns'];

/** Rows of an Arrow batch, and of a piece of CSV: what is in memory at once. */
const ROWS_AT_ONCE = 4_096;

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
  return writeParts(connection, sql, folder, async function* (columns, pieces, part) {
    const head = `${bom ? '\uFEFF' : ''}${csvHeader(columns)}${LINE_END}`;
    yield Buffer.from(head);
    let room = maxBytes - Buffer.byteLength(head);
    for (let piece = await pieces.next(); piece !== undefined; piece = await pieces.next()) {
      const lines = piece.rows.map((row) => csvLine(columns, row));
      const fitting = fittingLines(lines, room, part.rows === 0 ? 1 : 0);
      const text = Buffer.from(lines.slice(0, fitting).join(''));
      part.rows += fitting;
      room -= text.length;
      yield text;
      if (fitting < lines.length) return pieces.putBack(piece.rows.slice(fitting));
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

const csvLine = (columns: Columns, row: Result['rows'][number]): string =>
  `${columns.map(({ name, type }) => csvField(row[name], type)).join(',')}${LINE_END}`;

/** Writes the rows of a query as Arrow IPC files, as {@link writeCsv} does; a file is closed once its columns have `maxBytes`. */
export async function writeArrow(
  connection: DuckDBConnection,
  sql: string,
  folder: string,
  { maxBytes }: { readonly maxBytes: number },
): Promise<WrittenPart[]> {
  return writeParts(connection, sql, folder, async function* (columns, pieces, part) {
    const schema = arrowSchema(columns);
    async function* batches(): AsyncGenerator<RecordBatch> {
      yield arrowBatch({ columns, rows: [] }, schema);
      for (let bytes = 0; bytes < maxBytes; ) {
        const piece = await pieces.next();
        if (piece === undefined) return;
        const batch = arrowBatch(piece, schema);
        part.rows += batch.numRows;
        bytes += batch.data.byteLength;
        yield batch;
      }
    }
    yield* await RecordBatchFileWriter.writeAll(batches());
  });
}

/** Rows of a query a piece at a time; undefined after the last. */
interface Pieces {
  next(): Promise<Result | undefined>;
  /** Gives rows back, which the next piece begins with. */
  putBack(rows: Result['rows']): void;
  /** Whether there is another piece. */
  hasMore(): Promise<boolean>;
}

type WritePart = (
  columns: Columns,
  pieces: Pieces,
  part: { rows: number },
) => AsyncGenerator<Uint8Array, void, undefined>;

async function writeParts(
  connection: DuckDBConnection,
  sql: string,
  folder: string,
  writePart: WritePart,
): Promise<WrittenPart[]> {
  mkdirSync(folder);
  const { columns, pieces } = await readPieces(connection, sql);
  const parts: WrittenPart[] = [];
  do {
    const part = { path: join(folder, `part-${parts.length}`), rows: 0 };
    await pipeline(Readable.from(writePart(columns, pieces, part)), createWriteStream(part.path));
    parts.push(part);
  } while (await pieces.hasMore());
  return parts;
}

async function readPieces(
  connection: DuckDBConnection,
  sql: string,
): Promise<{ readonly columns: Columns; readonly pieces: Pieces }> {
  const result = await connection.stream(sql);
  const columns = result.columnNames().map((name, i) => ({ name, type: String(result.columnType(i)) }));
  const chunks = result.yieldRowObjectJson();
  let ahead: Result['rows'] = [];
  const hasMore = async (): Promise<boolean> => {
    while (ahead.length === 0) {
      const { value, done } = await chunks.next();
      if (done === true) return false;
      ahead = value.map((row) => withNumbers(columns, row));
    }
    return true;
  };
  const next = async (): Promise<Result | undefined> => {
    const rows: Result['rows'][number][] = [];
    while (rows.length < ROWS_AT_ONCE && (await hasMore())) {
      rows.push(...ahead);
      ahead = [];
    }
    return rows.length === 0 ? undefined : { columns, rows };
  };
  const putBack = (rows: Result['rows']): void => {
    ahead = [...rows, ...ahead];
  };
  return { columns, pieces: { next, putBack, hasMore } };
}

function withNumbers(columns: Columns, row: Readonly<Record<string, unknown>>): Result['rows'][number] {
  return Object.fromEntries(columns.map(({ name, type }) => [name, numeric(row[name], type)]));
}
