import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, type DuckDBValueConverter, StatementType } from '@duckdb/node-api';
import Table from 'cli-table3';
import { messageOf } from '../config/lotlake-error.js';
import { literal } from '../lake/session.js';
import { arrowStream } from './arrow.js';
import { csvField, csvHeader, LINE_END } from './csv.js';
import type { Format } from './formats.js';
import { arrowValue, jsonValue } from './instants.js';
import { clip, printable } from './printable.js';
import { ShareError } from './share-error.js';

/** Columns of a result; types are DuckDB's names of them. */
export type Columns = readonly { readonly name: string; readonly type: string }[];

/** Columns and rows of a result; values as a converter gives them, 64-bit integers as numbers where they are exact. */
export interface Result {
  readonly columns: Columns;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

const READING: ReadonlySet<StatementType> = new Set([
  StatementType.SELECT,
  StatementType.EXPLAIN,
  StatementType.RELATION,
]);

/** Checks that a text is one statement that only reads. Throws ShareError. */
export async function checkReadOnly(connection: DuckDBConnection, sql: string): Promise<void> {
  try {
    const statements = await connection.extractStatements(sql);
    if (statements.count !== 1)
      throw new ShareError('SHARE_QUERY', `expected one statement and found ${statements.count}`, {
        outcome: 'usage',
      });
    const explained = /^\s*explain(?:\s+analyze)?\s+([\s\S]+)$/i.exec(sql);
    if (explained?.[1] !== undefined) return await checkReadOnly(connection, explained[1]);
    const prepared = await statements.prepare(0);
    if (!READING.has(prepared.statementType)) {
      throw new ShareError(
        'SHARE_QUERY',
        `only queries are allowed, not ${StatementType[prepared.statementType]}`,
        {
          outcome: 'usage',
          hint: 'to keep a result, use --format and redirect the output',
        },
      );
    }
  } catch (error) {
    throw error instanceof ShareError ? error : queryError(error);
  }
}

/** Runs a query that only reads. Throws ShareError with DuckDB's message. */
async function runQuery(
  connection: DuckDBConnection,
  sql: string,
  converter: DuckDBValueConverter<unknown>,
): Promise<Result> {
  await checkReadOnly(connection, sql);
  try {
    const reader = await connection.runAndReadAll(sql);
    const names = reader.deduplicatedColumnNames();
    const columns = names.map((name, i) => ({ name, type: String(reader.columnType(i)) }));
    const rows = reader
      .convertRows(converter)
      .map((row) =>
        Object.fromEntries(row.map((value, i) => [names[i] ?? '', numeric(value, columns[i]?.type ?? '')])),
      );
    return { columns, rows };
  } catch (error) {
    throw queryError(error);
  }
}

/** What DuckDB said of a query that failed. */
export function queryError(error: unknown): ShareError {
  return new ShareError('SHARE_QUERY', messageOf(error), {
    cause: error,
    hint: 'lotlake tables lists what there is; lotlake describe <table> lists its columns',
  });
}

/** The JSON converter gives 64-bit integers as text; the ones that are exact as numbers are given as numbers. */
function numeric(value: unknown, type: string): unknown {
  if (typeof value !== 'string' || !/^(U?BIGINT|HUGEINT)$/.test(type)) return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/**
 * Runs a query and writes its result. `arrow` and `parquet` are bytes, the others text.
 * @param temp folder in which the connection may write
 */
export async function render(
  connection: DuckDBConnection,
  sql: string,
  format: Format,
  temp: string,
): Promise<string | Uint8Array> {
  if (format === 'parquet') return parquet(connection, sql, temp);
  if (format === 'arrow') return arrowStream(await runQuery(connection, sql, arrowValue));
  const result = await runQuery(connection, sql, jsonValue);
  if (format === 'json') return `${JSON.stringify(result.rows)}\n`;
  return format === 'csv' ? csv(result) : table(result);
}

async function parquet(connection: DuckDBConnection, sql: string, temp: string): Promise<Uint8Array> {
  await checkReadOnly(connection, sql);
  const path = join(temp, 'result.parquet');
  try {
    await connection.run(
      `copy (${sql.replace(/;\s*$/, '')}) to ${literal(path)} (format parquet, compression zstd)`,
    );
    return await readFile(path);
  } catch (error) {
    throw queryError(error);
  } finally {
    await rm(path, { force: true });
  }
}

function table(result: Result): string {
  const grid = new Table({
    head: result.columns.map((column) => column.name),
    style: { head: [], border: [], compact: true },
    colAligns: result.columns.map((column) =>
      /INT|DOUBLE|DECIMAL|FLOAT/.test(column.type) ? 'right' : 'left',
    ),
  });
  for (const row of result.rows)
    grid.push(result.columns.map((column) => clip(printable(row[column.name]), 60)));
  return `${grid.toString()}\n(${result.rows.length} row${result.rows.length === 1 ? '' : 's'})\n`;
}

function csv(result: Result): string {
  const lines = result.rows.map((row) =>
    result.columns.map(({ name, type }) => csvField(row[name], type)).join(','),
  );
  return [csvHeader(result.columns), ...lines, ''].join(LINE_END);
}
