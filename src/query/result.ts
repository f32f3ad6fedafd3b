import {
  type DuckDBConnection,
  type DuckDBDataChunk,
  type DuckDBResult,
  type DuckDBValueConverter,
  StatementType,
} from '@duckdb/node-api';
import { queryError, type ReadQuery } from './read-only.js';

/** Columns of a result; types are DuckDB's names of them. */
export type Columns = readonly { readonly name: string; readonly type: string }[];

/** Rows with their values in the order of the columns, as a converter gives them. */
export type Rows = readonly (readonly unknown[])[];

/** A result that comes piece by piece; it can be read once. */
export type Result = Awaited<ReturnType<typeof openResult>>;

const READING: ReadonlySet<StatementType> = new Set([StatementType.SELECT, StatementType.EXPLAIN]);

async function begin(connection: DuckDBConnection, sql: string): Promise<DuckDBResult> {
  const statements = await connection.extractStatements(sql);
  const prepared = await statements.prepare(0);
  if (statements.count !== 1 || !READING.has(prepared.statementType))
    throw new TypeError(`not a query: ${StatementType[prepared.statementType]}`);
  return prepared.stream();
}

const failed = (error: unknown): never => {
  throw queryError(error);
};

/** Begins a query. Throws SHARE_QUERY with DuckDB's message, now or when rows are read. */
export async function openResult(connection: DuckDBConnection, query: Pick<ReadQuery, 'sql' | 'select'>) {
  const result = await begin(connection, query.sql).catch(failed);
  const columns: Columns = result
    .deduplicatedColumnNames()
    .map((name, i) => ({ name, type: String(result.columnType(i)) }));
  const isInteger = columns.map(({ type }) => /^(U?BIGINT|HUGEINT)$/.test(type));
  const chunks = chunksOf(connection, query.select, result);
  const next = async () => (await chunks.next().catch(failed)).value;
  return {
    columns,
    /** Pieces of some thousand rows, with values from the converter. A 64-bit integer is a number if that is exact. */
    async *rows(converter: DuckDBValueConverter<unknown>): AsyncGenerator<Rows> {
      for (let chunk = await next(); chunk !== undefined; chunk = await next())
        yield chunk
          .convertRows(converter)
          .map((row) => row.map((value, i) => (isInteger[i] === true ? exact(value) : value)));
    },
    /** Counts the rows that are left. */
    async countRest(): Promise<number> {
      let count = 0;
      // Chunks lie outside the heap of JavaScript. Only values on the heap make the collector run and free them.
      for (let chunk = await next(); chunk !== undefined; chunk = await next())
        count += chunk.getColumnValues(0).length;
      return count;
    },
  };
}

/**
 * Chunks of a result that is streamed. One that fails amid its rows ends as if it were whole: DuckDB's API says so only in
 * that it is no longer streaming, and not why. The query is run again for the reason, without its rows.
 */
async function* chunksOf(
  connection: DuckDBConnection,
  sql: string,
  result: DuckDBResult,
): AsyncGenerator<DuckDBDataChunk, undefined> {
  const isStreamed = result.isStreaming;
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) break;
    yield chunk;
  }
  if (!isStreamed || result.isStreaming) return;
  await connection.run(`explain analyze\n${sql}`);
  throw new TypeError('the query failed amid its rows, and did not when it was run again');
}

/** Joins pieces of rows until they have some size, the last one aside. */
export async function* joined(pieces: AsyncIterable<Rows>, size: number): AsyncGenerator<Rows, undefined> {
  let rows: (readonly unknown[])[] = [];
  for await (const piece of pieces) {
    rows = rows.concat(piece);
    if (rows.length < size) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

/** The JSON converter gives 64-bit integers as text; the ones that are exact as numbers are given as numbers. */
function exact(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
