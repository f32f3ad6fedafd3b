import type { DuckDBConnection } from '@duckdb/node-api';
import { LEVEL_FACTORS, LINE_FACTORS, SEGMENTS } from './design.js';

/** A row of `fit.rows`, as it is handed to one visitor after the other; the next row overwrites it. */
export interface PricedRow {
  lot: number;
  /** Place of its generation among the leaves of the tree. */
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

/** Places of the first term and of the first segment among the columns. */
const FIRST = 5;
const BEHIND = FIRST + LEVEL_FACTORS.length + 2 * LINE_FACTORS.length;

/** Visits the rows of `fit.rows` in the order of their dates. */
export async function eachRow(
  connection: DuckDBConnection,
  where: string,
  visit: (row: PricedRow) => void,
): Promise<void> {
  const terms = 1 + LEVEL_FACTORS.length + 2 * LINE_FACTORS.length;
  const [index, share] = [new Int32Array(terms), new Float64Array(terms)];
  const segments = new Int32Array(SEGMENTS.length);
  const row: PricedRow = {
    lot: 0,
    model: 0,
    noise: 0,
    logPrice: 0,
    month: 0,
    index,
    share,
    count: 0,
    segments,
  };
  index[0] = 0;
  share[0] = 1;
  const result = await connection.stream(
    `select * exclude (place) from fit.rows where ${where} order by place`,
  );
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    const vectors = Array.from({ length: chunk.columnCount }, (_, i) => chunk.getColumnVector(i));
    const value = (column: number, at: number): number => Number(vectors[column]?.getItem(at) ?? Number.NaN);
    for (let at = 0; at < chunk.rowCount; at += 1) {
      row.lot = value(0, at);
      row.model = value(1, at);
      row.noise = value(2, at);
      row.logPrice = value(3, at);
      row.month = value(4, at);
      row.count = 1;
      for (let i = 0; i < LEVEL_FACTORS.length; i += 1) add(row, value(FIRST + i, at), 1);
      for (let i = 0; i < LINE_FACTORS.length; i += 1) {
        const first = FIRST + LEVEL_FACTORS.length + 2 * i;
        const [knot, beyond] = [value(first, at), value(first + 1, at)];
        if (Number.isNaN(knot)) continue;
        add(row, knot, 1 - beyond);
        if (beyond > 0) add(row, knot + 1, beyond);
      }
      for (let i = 0; i < SEGMENTS.length; i += 1) segments[i] = value(BEHIND + i, at);
      visit(row);
    }
  }
}

function add(row: PricedRow, coefficient: number, share: number): void {
  row.index[row.count] = coefficient;
  row.share[row.count] = share;
  row.count += 1;
}
