import { closeSync, readSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import { openNew, remove, writeTo } from '../../config/owned.js';
import { LEVEL_FACTORS, LINE_FACTORS, SEGMENTS } from './design.js';

/** A lot as numbers. The next lot overwrites it. */
export interface PricedRow {
  lot: number;
  /** Position of its generation among the leaves of the tree. */
  model: number;
  /** Class of its noise. */
  noise: number;
  /** Logarithm of the price; NaN without a price. */
  logPrice: number;
  month: number;
  /** Coefficients of the lot, ascending; the first `count` of the array. */
  readonly index: Int32Array;
  /** What each coefficient is multiplied by. */
  readonly share: Float64Array;
  count: number;
  /** Its level of each of SEGMENTS. */
  readonly segments: Int32Array;
}

/** Which rows are visited. */
export interface Visited {
  readonly isPriced?: boolean;
  /** The first month, and the month after the last. */
  readonly months?: readonly [number, number];
  /** One row in this many. */
  readonly every?: number;
}

/** Positions of the first term and of the first segment of a row. */
const FIRST_TERM = 5;
const FIRST_SEGMENT = FIRST_TERM + LEVEL_FACTORS.length + 2 * LINE_FACTORS.length;
const WIDTH = FIRST_SEGMENT + SEGMENTS.length;
const BLOCK = 2048;

/**
 * Writes the rows of a SELECT into a file, because a fit reads them many times and its memory must not grow with their
 * number.
 */
export async function writeRows(connection: DuckDBConnection, sql: string, path: string) {
  const file = openNew(path);
  const close = (): void => {
    closeSync(file);
    remove(path);
  };
  try {
    return {
      /** Prices by month. */
      prices: await fillFile(file, connection, sql),
      /** Visits rows in the order of the SELECT. */
      each: (visited: Visited, visit: (row: PricedRow) => void) => visitRows(file, visited, visit),
      /** Removes the file. */
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

async function fillFile(file: number, connection: DuckDBConnection, sql: string): Promise<number[]> {
  const prices: number[] = [];
  const result = await connection.stream(sql);
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return prices;
    const columns = Array.from({ length: WIDTH }, (_, i) => chunk.getColumnVector(i));
    const block = new Float64Array(chunk.rowCount * WIDTH);
    for (let at = 0; at < block.length; at += 1)
      block[at] = Number(columns[at % WIDTH]?.getItem(Math.floor(at / WIDTH)) ?? Number.NaN);
    writeTo(file, new Uint8Array(block.buffer));
    for (let at = 0; at < block.length; at += WIDTH) {
      const [logPrice = 0, month = 0] = block.subarray(at + 3, at + FIRST_TERM);
      if (!Number.isNaN(logPrice)) prices[month] = (prices[month] ?? 0) + 1;
    }
  }
}

function visitRows(
  file: number,
  { isPriced, months: [from, to] = [0, Infinity], every = 1 }: Visited,
  visit: (row: PricedRow) => void,
): void {
  const row = emptyRow();
  const block = new Float64Array(BLOCK * WIDTH);
  for (let first = 0; ; first += block.byteLength) {
    const bytes = readSync(file, block, 0, block.byteLength, first);
    if (bytes === 0) return;
    for (let at = 0; at < bytes / 8; at += WIDTH * every) {
      const month = block[at + 4] ?? 0;
      if (month < from || month >= to || (isPriced && Number.isNaN(block[at + 3]))) continue;
      decode(block, at, row);
      visit(row);
    }
  }
}

function emptyRow(): PricedRow {
  const terms = 1 + LEVEL_FACTORS.length + 2 * LINE_FACTORS.length;
  const [index, share] = [new Int32Array(terms), new Float64Array(terms)];
  share[0] = 1;
  const segments = new Int32Array(SEGMENTS.length);
  return { lot: 0, model: 0, noise: 0, logPrice: 0, month: 0, index, share, count: 0, segments };
}

function decode(block: Float64Array, at: number, row: PricedRow): void {
  row.lot = block[at] ?? 0;
  row.model = block[at + 1] ?? 0;
  row.noise = block[at + 2] ?? 0;
  row.logPrice = block[at + 3] ?? 0;
  row.month = block[at + 4] ?? 0;
  row.count = 1;
  const firstLine = at + FIRST_TERM + LEVEL_FACTORS.length;
  for (let i = at + FIRST_TERM; i < firstLine; i += 1) add(row, block[i] ?? 0, 1);
  for (let i = firstLine; i < at + FIRST_SEGMENT; i += 2) {
    const [knot, beyond] = [block[i] ?? 0, block[i + 1] ?? 0];
    if (Number.isNaN(knot)) continue;
    add(row, knot, 1 - beyond);
    if (beyond > 0) add(row, knot + 1, beyond);
  }
  for (let i = 0; i < SEGMENTS.length; i += 1) row.segments[i] = block[at + FIRST_SEGMENT + i] ?? 0;
}

function add(row: PricedRow, coefficient: number, share: number): void {
  row.index[row.count] = coefficient;
  row.share[row.count] = share;
  row.count += 1;
}
