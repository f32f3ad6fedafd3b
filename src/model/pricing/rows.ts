import { closeSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import { LEVEL_FACTORS, LINE_FACTORS, SEGMENTS } from './design.js';

/** A lot in numbers, as it is handed to a visitor; the next one overwrites it. */
export interface PricedRow {
  lot: number;
  /** Its generation, by its place among the leaves of the tree. */
  model: number;
  /** Class of its noise. */
  noise: number;
  /** Logarithm of the price; NaN without one. */
  logPrice: number;
  month: number;
  /** Coefficients that it touches, ascending, and how much of each; `count` of them. */
  readonly index: Int32Array;
  readonly share: Float64Array;
  count: number;
  /** Its level of each of SEGMENTS. */
  readonly segments: Int32Array;
}

/** Which rows are visited. */
export interface Visited {
  readonly isPriced?: boolean;
  /** Months from the first to before the last. */
  readonly months?: readonly [number, number];
  /** One row in this many. */
  readonly every?: number;
}

/** Places of the first term and of the first segment of a row. */
const FIRST_TERM = 5;
const FIRST_SEGMENT = FIRST_TERM + LEVEL_FACTORS.length + 2 * LINE_FACTORS.length;
const WIDTH = FIRST_SEGMENT + SEGMENTS.length;
const BLOCK = 2048;

/**
 * The lots of a market in numbers, by date. They lie in a file, since a fit goes over them many times and should need no
 * more memory for more of them.
 */
export class PricedRows {
  readonly #path: string;
  readonly #file: number;
  #rows = 0;
  /** Prices by month. */
  readonly prices: number[] = [];
  /** Number of classes of noise. */
  noises = 0;

  private constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, 'w+');
  }

  /** Writes the rows that a SELECT gives into a file. */
  static async write(connection: DuckDBConnection, sql: string, path: string): Promise<PricedRows> {
    const rows = new PricedRows(path);
    try {
      await rows.#fill(connection, sql);
      return rows;
    } catch (error) {
      rows.close();
      throw error;
    }
  }

  async #fill(connection: DuckDBConnection, sql: string): Promise<void> {
    const result = await connection.stream(sql);
    for (;;) {
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) return;
      const columns = Array.from({ length: WIDTH }, (_, i) => chunk.getColumnVector(i));
      const block = new Float64Array(chunk.rowCount * WIDTH);
      for (let at = 0; at < block.length; at += 1) {
        const value = columns[at % WIDTH]?.getItem(Math.floor(at / WIDTH));
        block[at] = value === null ? Number.NaN : Number(value);
      }
      this.#append(block);
    }
  }

  #append(block: Float64Array): void {
    // writes all of it or throws, even where the disk takes a part
    writeFileSync(this.#file, block);
    this.#rows += block.length / WIDTH;
    for (let at = 0; at < block.length; at += WIDTH) {
      const [noise = 0, logPrice = 0, month = 0] = block.subarray(at + 2, at + FIRST_TERM);
      this.noises = Math.max(this.noises, noise + 1);
      if (!Number.isNaN(logPrice)) this.prices[month] = (this.prices[month] ?? 0) + 1;
    }
  }

  /** Visits rows in the order of their dates. */
  each(
    { isPriced, months: [from, to] = [0, Infinity], every = 1 }: Visited,
    visit: (row: PricedRow) => void,
  ): void {
    const row = emptyRow();
    const block = new Float64Array(BLOCK * WIDTH);
    for (let first = 0; first < this.#rows; first += BLOCK) {
      const bytes = readSync(this.#file, block, 0, block.byteLength, first * WIDTH * 8);
      for (let at = 0; at < bytes / 8; at += WIDTH * every) {
        const month = block[at + 4] ?? 0;
        if (month < from || month >= to || (isPriced && Number.isNaN(block[at + 3]))) continue;
        decode(block, at, row);
        visit(row);
      }
    }
  }

  close(): void {
    closeSync(this.#file);
    rmSync(this.#path);
  }
}

function emptyRow(): PricedRow {
  const terms = 1 + LEVEL_FACTORS.length + 2 * LINE_FACTORS.length;
  const [index, share, segments] = [
    new Int32Array(terms),
    new Float64Array(terms),
    new Int32Array(SEGMENTS.length),
  ];
  share[0] = 1;
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
