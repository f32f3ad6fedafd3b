import type {
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBResult,
  DuckDBValueConverter,
  StatementType,
} from '@duckdb/node-api';
import { duckdb } from '../../base/duck/api.js';
import { failQuery, type ReadQuery } from '../../core/model/read-only.js';

/** Columns of a result, with DuckDB's names of their types. */
export type Columns = readonly { readonly name: string; readonly type: string }[];

/** Rows with their values in the order of the columns, as a converter gives them. */
export type Rows = readonly (readonly unknown[])[];

/** A result that is read piece by piece, once. */
export interface Result {
  readonly columns: Columns;
  /** Pieces of some thousand rows, with values from the converter. A 64-bit integer is a number if that is exact. */
  rows(converter: DuckDBValueConverter<unknown>): AsyncGenerator<Rows>;
  /** Counts the rows that were not read. */
  countRest(): Promise<number>;
}

const READING: ReadonlySet<StatementType> = new Set([
  duckdb.StatementType.SELECT,
  duckdb.StatementType.EXPLAIN,
]);

async function begin(connection: DuckDBConnection, sql: string): Promise<DuckDBResult> {
  const statements = await connection.extractStatements(sql);
  const prepared = await statements.prepare(0);
  if (statements.count !== 1 || !READING.has(prepared.statementType))
    throw new TypeError(`not a query: ${duckdb.StatementType[prepared.statementType]}`);
  return prepared.stream();
}

/** Starts a query. Throws QUERY_FAILED with DuckDB's message, now or when rows are read. */
export async function openResult(
  connection: DuckDBConnection,
  query: Pick<ReadQuery, 'sql' | 'select'>,
): Promise<Result> {
  const result = await begin(connection, query.sql).catch(failQuery);
  const columns: Columns = result
    .deduplicatedColumnNames()
    .map((name, i) => ({ name, type: String(result.columnType(i)) }));
  const isInteger = columns.map(({ type }) => /^(U?BIGINT|HUGEINT)$/.test(type));
  const chunks = chunksOf(connection, query.select, result);
  const next = async () => (await chunks.next().catch(failQuery)).value;
  return {
    columns,
    async *rows(converter) {
      for (let chunk = await next(); chunk !== undefined; chunk = await next())
        yield chunk
          .convertRows(converter)
          .map((row) => row.map((value, i) => (isInteger[i] === true ? exact(value) : value)));
    },
    async countRest() {
      let count = 0;
      // Chunks lie outside the JavaScript heap. Values on the heap make the collector run, which then frees the chunks.
      for (let chunk = await next(); chunk !== undefined; chunk = await next())
        count += chunk.getColumnValues(0).length;
      return count;
    },
  };
}

/**
 * Reads the chunks of a result. A streamed result that fails between two chunks ends like a complete one. DuckDB's API
 * then says that it no longer streams, but not why, so the query is run again, without its rows, to get the error.
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

/** Joins pieces of rows into larger ones. All but the last have at least `size` rows. */
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

/** The JSON converter gives 64-bit integers as text. Those that a number holds exactly become numbers. */
function exact(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
