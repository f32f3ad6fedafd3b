import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DuckDBConnection, DuckDBValueConverter } from '@duckdb/node-api';
import { type Columns, chunksOf, type Rows } from '../query/result.js';
import type { WrittenPart } from './data-file.js';

/** Rows of a query a piece at a time. */
interface Pieces {
  /** Undefined after the last. */
  next(): Promise<Rows | undefined>;
  /** Gives rows back, which the next piece begins with. */
  putBack(rows: Rows): void;
  /** Whether there is another piece. */
  hasMore(): Promise<boolean>;
}

/** Gives the bytes of one file, with the pieces that go into it; counts their rows in `part`. */
export type WritePart = (
  columns: Columns,
  pieces: Pieces,
  part: { rows: number },
) => AsyncGenerator<Uint8Array, void, undefined>;

/** Rows of a piece, roughly: what is in memory at once. */
const ROWS_AT_ONCE = 4_096;

/**
 * Writes the rows of a query into files, in their order, one file after the other until all are written. There is always
 * one file.
 * @param folder for the parts; it is made
 * @param converter of the values
 */
export async function writeParts(
  connection: DuckDBConnection,
  sql: string,
  folder: string,
  converter: DuckDBValueConverter<unknown>,
  writePart: WritePart,
): Promise<WrittenPart[]> {
  mkdirSync(folder);
  const { columns, pieces } = await readPieces(connection, sql, converter);
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
  converter: DuckDBValueConverter<unknown>,
): Promise<{ readonly columns: Columns; readonly pieces: Pieces }> {
  const result = await connection.stream(sql);
  const columns = result.columnNames().map((name, i) => ({ name, type: String(result.columnType(i)) }));
  const chunks = chunksOf(connection, sql, result);
  let ahead: Rows = [];
  const hasMore = async (): Promise<boolean> => {
    while (ahead.length === 0) {
      const { value, done } = await chunks.next();
      if (done === true) return false;
      ahead = value.convertRows(converter);
    }
    return true;
  };
  const next = async (): Promise<Rows | undefined> => {
    const rows: (readonly unknown[])[] = [];
    while (rows.length < ROWS_AT_ONCE && (await hasMore())) {
      rows.push(...ahead);
      ahead = [];
    }
    return rows.length === 0 ? undefined : rows;
  };
  const putBack = (rows: Rows): void => {
    ahead = [...rows, ...ahead];
  };
  return { columns, pieces: { next, putBack, hasMore } };
}
