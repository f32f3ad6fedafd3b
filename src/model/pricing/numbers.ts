import { type DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';

const CHUNK = 2048;

type Numbers = readonly (number | string)[];

/** Appends rows of numbers and texts, behind the number of their market, to a table of the database `fit`; NaN becomes null. */
export async function openNumbers(connection: DuckDBConnection, table: string, market: number) {
  const appender = await connection.createAppender(table, 'main', 'fit');
  const types = Array.from({ length: appender.columnCount }, (_, i) => appender.columnType(i));
  const held: (number | string | null)[][] = [];
  const appendHeld = (): void => {
    const chunk = DuckDBDataChunk.create(types, held.length);
    chunk.setRows(held);
    appender.appendDataChunk(chunk);
    held.length = 0;
  };
  return {
    append: (row: Numbers): void => {
      const values: (number | string | null)[] = [market];
      for (const value of row) values.push(Number.isNaN(value) ? null : value);
      held.push(values);
      if (held.length === CHUNK) appendHeld();
    },
    /** Makes the rows visible to queries. */
    close: (): void => {
      appendHeld();
      appender.closeSync();
    },
  };
}

/** Appends rows as `openNumbers` does, and makes them visible. */
export async function writeNumbers(
  connection: DuckDBConnection,
  table: string,
  market: number,
  rows: Iterable<Numbers>,
): Promise<void> {
  const { append, close } = await openNumbers(connection, table, market);
  for (const row of rows) append(row);
  close();
}
