import { appendFileSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { RecordBatchFileWriter } from 'apache-arrow';
import { checksumOf } from '../land/files.js';
import { arrowBatch, arrowSchema, WrittenBytes } from '../query/arrow.js';
import { csvHeader, csvLine } from '../query/csv.js';
import { arrowValue, jsonValue } from '../query/instants.js';
import { joined, openResult, type Rows } from '../query/result.js';

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
  const { columns, rows } = await openResult(connection, { sql, select: sql });
  const head = `${bom ? '\uFEFF' : ''}${csvHeader(columns)}`;
  const parts: OpenPart[] = [];
  let bytes = 0;
  const begin = (): OpenPart => {
    bytes = Buffer.byteLength(head);
    return beginPart(folder, parts, head);
  };
  let part = begin();
  for await (const piece of rows(jsonValue)) {
    let lines: string[] = [];
    for (const row of piece) {
      const line = csvLine(row, columns);
      const more = Buffer.byteLength(line);
      if (bytes + more > maxBytes && part.rows > 0) {
        appendFileSync(part.path, lines.join(''));
        lines = [];
        part = begin();
      }
      lines.push(line);
      part.rows++;
      bytes += more;
    }
    appendFileSync(part.path, lines.join(''));
  }
  return parts;
}

/** Rows of a record batch, roughly. */
const ROWS_OF_A_BATCH = 4_096;

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
  const { columns, rows } = await openResult(connection, { sql, select: sql });
  const schema = arrowSchema(columns);
  const parts: OpenPart[] = [];
  const pieces = joined(rows(arrowValue), ROWS_OF_A_BATCH);
  let piece = (await pieces.next()).value;
  do {
    const part = beginPart(folder, parts);
    const written = new WrittenBytes();
    const writer = new RecordBatchFileWriter();
    const write = (batch: Rows): void => {
      writer.write(arrowBatch(columns, batch, schema));
      appendFileSync(part.path, Buffer.concat(written.take()));
    };
    writer.reset(written, schema);
    write([]);
    for (; piece !== undefined; piece = (await pieces.next()).value) {
      if (part.rows > 0 && written.total >= maxBytes) break;
      write(piece);
      part.rows += piece.length;
    }
    writer.close();
    appendFileSync(part.path, Buffer.concat(written.take()));
  } while (piece !== undefined);
  return parts;
}

/** A file that is being written. */
interface OpenPart extends WrittenPart {
  rows: number;
}

/** Begins the next file of a table; the first one makes the folder. */
function beginPart(folder: string, parts: OpenPart[], head = ''): OpenPart {
  if (parts.length === 0) mkdirSync(folder);
  const part = { path: join(folder, `part-${parts.length}`), rows: 0 };
  writeFileSync(part.path, head);
  parts.push(part);
  return part;
}
