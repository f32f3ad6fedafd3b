import type { DuckDBConnection } from '@duckdb/node-api';
import { duckdb } from '../../base/duck/api.js';

const CHUNK = 2048;

type Numbers = readonly (number | string)[];

/** A table of the database of a step that lotlake computes outside of SQL, such as `fit.index`. */
type Table = `${string}.${string}`;

/** Appends rows to a table, each after one number that is the same for all. NaN becomes null. */
export async function openNumbers(connection: DuckDBConnection, table: Table, before: number) {
  const [database, name = ''] = table.split('.');
  const appender = await connection.createAppender(name, 'main', database);
  const types = Array.from({ length: appender.columnCount }, (_, i) => appender.columnType(i));
  const chunk = duckdb.DuckDBDataChunk.create(types, CHUNK);
  const [first, ...columns] = types.map((_, i) => chunk.getColumnVector(i));
  for (let at = 0; at < CHUNK; at += 1) first?.setItem(at, before);
  let count = 0;
  const flush = (): void => {
    first?.flush();
    for (const column of columns) column.flush();
    appender.appendDataChunk(chunk);
    count = 0;
  };
  return {
    append: (row: Numbers): void => {
      for (let i = 0; i < columns.length; i += 1) {
        const value = row[i] ?? Number.NaN;
        if (Number.isNaN(value)) columns[i]?.setItem(count, null);
        else columns[i]?.setItem(count, value);
      }
      count += 1;
      if (count === CHUNK) flush();
    },
    /** Makes the rows visible to queries. */
    close: (): void => {
      chunk.rowCount = count;
      flush();
      appender.closeSync();
    },
  };
}

/** Appends rows as `openNumbers` does, and makes them visible to queries. */
export async function writeNumbers(
  connection: DuckDBConnection,
  table: Table,
  before: number,
  rows: Iterable<Numbers>,
): Promise<void> {
  const { append, close } = await openNumbers(connection, table, before);
  for (const row of rows) append(row);
  close();
}
