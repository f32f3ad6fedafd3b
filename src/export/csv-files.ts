import type { DuckDBConnection } from '@duckdb/node-api';
import { csvField, csvHeader, LINE_END } from '../query/csv.js';
import { jsonValue } from '../query/instants.js';
import type { WrittenPart } from './data-file.js';
import { writeParts } from './streamed.js';

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
  return writeParts(connection, sql, folder, jsonValue, async function* (columns, pieces, part) {
    const types = columns.map(({ type }) => type);
    const head = `${bom ? '\uFEFF' : ''}${csvHeader(columns)}${LINE_END}`;
    yield Buffer.from(head);
    let room = maxBytes - Buffer.byteLength(head);
    for (let rows = await pieces.next(); rows !== undefined; rows = await pieces.next()) {
      const lines = rows.map((row) => csvLine(row, types));
      const fitting = fittingLines(lines, room, part.rows === 0 ? 1 : 0);
      const text = Buffer.from(lines.slice(0, fitting).join(''));
      part.rows += fitting;
      room -= text.length;
      yield text;
      if (fitting < lines.length) return pieces.putBack(rows.slice(fitting));
    }
  });
}

const csvLine = (row: readonly unknown[], types: readonly string[]): string =>
  `${types.map((type, i) => csvField(row[i], type)).join(',')}${LINE_END}`;

/** How many lines fit into some bytes; no fewer than `least`. */
function fittingLines(lines: readonly string[], room: number, least: number): number {
  let left = room;
  const beyond = lines.findIndex((line, i) => {
    left -= Buffer.byteLength(line);
    return left < 0 && i >= least;
  });
  return beyond === -1 ? lines.length : beyond;
}
