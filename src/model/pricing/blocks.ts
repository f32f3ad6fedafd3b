import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import { type Factor, GROUPS, LEVEL_FACTORS, SEGMENTS } from './design.js';

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
  /** The intercept and the coefficients that not all lots of the market have, in the same way. */
  readonly own: { readonly index: Int32Array; readonly share: Float64Array; count: number };
  /** Its level of each of SEGMENTS. */
  readonly segments: Int32Array;
  /** Its group of each of GROUPS; -1 if it is in none. */
  readonly groups: Int32Array;
  /** What the effects of GROUPS are multiplied by. */
  readonly times: Float64Array;
  /** Logarithm of the price that it can be bought for before its auction; NaN without one. */
  logBuyNow: number;
  /** Share of sold lots with a Buy Now price that were sold for it. */
  buyNowShare: number;
}

/** Some lots of a market, column by column. */
export interface Block {
  readonly numbers: readonly Float64Array[];
  readonly codes: readonly Int32Array[];
  /** The memory of all columns. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Number of lots. */
  count: number;
}

/** Most lots of a block. */
export const ROWS = 2048;

/** The columns of lots as SQL gives them, in this order: numbers, where NaN stands for none, and then codes. */
export const NUMBERS = [
  ...['lot', 'log_price', 'age', 'mileage'],
  ...['age_slope', 'mileage_slope', 'log_buy_now', 'buy_now_share'],
];
const LINES = ['age', 'mileage'];
export const CODES = [
  ...['leaf', 'noise', 'month', ...LEVEL_FACTORS, 'month_knot'],
  ...SEGMENTS.map((name) => `segment_${name}`),
  ...GROUPS.map(({ name }) => `group_${name}`),
];

/** Places of the columns in a block, where age and mileage are the share of the way from their knot to the next one. */
const [LOT, LOG_PRICE, FIRST_SHARE, AGE_SLOPE, MILEAGE_SLOPE, LOG_BUY_NOW, BUY_NOW_SHARE] = [
  0, 1, 2, 4, 5, 6, 7,
];
const [LEAF, NOISE, MONTH, FIRST_LEVEL] = [0, 1, 2, 3];
const MONTH_KNOT = FIRST_LEVEL + LEVEL_FACTORS.length;
const FIRST_SEGMENT = MONTH_KNOT + 1;
const FIRST_GROUP = FIRST_SEGMENT + SEGMENTS.length;
/** The coefficients of the knots at or below age and mileage, after the codes of SQL; NONE if they are unknown. */
const FIRST_KNOT = CODES.length;
const NONE = -1;

/** A block without lots. */
export function emptyBlock(): Block {
  const codes = FIRST_KNOT + LINES.length;
  const bytes = new Uint8Array(ROWS * (8 * NUMBERS.length + 4 * codes));
  const firstCode = ROWS * 8 * NUMBERS.length;
  return {
    numbers: NUMBERS.map((_, i) => new Float64Array(bytes.buffer, 8 * ROWS * i, ROWS)),
    codes: Array.from(
      { length: codes },
      (_, i) => new Int32Array(bytes.buffer, firstCode + 4 * ROWS * i, ROWS),
    ),
    bytes,
    count: 0,
  };
}

/** Reads the lots of a SELECT of NUMBERS and CODES. The next block overwrites the one before. */
export async function* readBlocks(
  connection: DuckDBConnection,
  sql: string,
  factors: readonly Factor[],
): AsyncGenerator<Block> {
  const result = await connection.stream(sql);
  const block = emptyBlock();
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) break;
    for (let from = 0; from < chunk.rowCount; ) {
      from += take(block, chunk, from);
      if (block.count < ROWS) continue;
      yield placed(block, factors);
      block.count = 0;
    }
  }
  if (block.count > 0) yield placed(block, factors);
}

/** Moves lots of a chunk into the room that a block has; returns their number. */
function take(block: Block, chunk: DuckDBDataChunk, from: number): number {
  const rows = Math.min(ROWS - block.count, chunk.rowCount - from);
  const columns = [...block.numbers, ...block.codes.slice(0, CODES.length)];
  for (const [i, column] of columns.entries()) {
    const vector = chunk.getColumnVector(i);
    for (let row = 0; row < rows; row += 1) column[block.count + row] = Number(vector.getItem(from + row));
  }
  block.count += rows;
  return rows;
}

/** Places age and mileage between their knots. */
function placed(block: Block, factors: readonly Factor[]): Block {
  for (const [line, name] of LINES.entries()) {
    const { offset = 0, knots = [] } = factors.find((factor) => factor.name === name) ?? {};
    const [values, places] = [block.numbers[FIRST_SHARE + line], block.codes[FIRST_KNOT + line]];
    if (values === undefined || places === undefined) continue;
    for (let row = 0; row < block.count; row += 1) {
      const value = values[row] ?? Number.NaN;
      let knot = 0;
      while (value >= (knots[knot + 1] ?? Infinity)) knot += 1;
      const below = knots[knot] ?? 0;
      // Beyond the last knot the share is 0, and below the first one, too.
      const share = (value - below) / ((knots[knot + 1] ?? Infinity) - below);
      places[row] = Number.isNaN(value) ? NONE : offset + knot;
      values[row] = Math.max(0, share);
    }
  }
  return block;
}

/** Whether the lot at a place of a block has a price. */
export const isPriced = ({ numbers }: Block, at: number): boolean => !Number.isNaN(numbers[LOG_PRICE]?.[at]);

/** The month of the lot at a place of a block. */
export const monthAt = ({ codes }: Block, at: number): number => codes[MONTH]?.[at] ?? 0;

/** Copies a lot to the end of another block. */
export function copyRow(block: Block, at: number, to: Block): void {
  for (const [i, column] of to.numbers.entries()) column[to.count] = block.numbers[i]?.[at] ?? 0;
  for (const [i, column] of to.codes.entries()) column[to.count] = block.codes[i]?.[at] ?? 0;
  to.count += 1;
}

/** A row to read lots into. @param shared coefficients that all lots have, the intercept first */
export function emptyRow(shared: readonly number[]): PricedRow & { readonly isShared: Uint8Array } {
  const terms = 1 + LEVEL_FACTORS.length + 2 * LINES.length + 1;
  const [index, share] = [new Int32Array(terms), new Float64Array(terms)];
  share[0] = 1;
  const own = { index: index.slice(), share: share.slice(), count: 1 };
  const segments = new Int32Array(SEGMENTS.length);
  const isShared = Uint8Array.from({ length: 1 + Math.max(...shared) }, (_, at) =>
    shared.includes(at) ? 1 : 0,
  );
  return {
    lot: 0,
    model: 0,
    noise: 0,
    logPrice: 0,
    month: 0,
    index,
    share,
    count: 0,
    own,
    segments,
    groups: new Int32Array(GROUPS.length),
    times: new Float64Array(GROUPS.length).fill(1),
    logBuyNow: Number.NaN,
    buyNowShare: 0,
    isShared,
  };
}

/** Reads the lot at a place of a block into a row. */
export function readRow({ numbers, codes }: Block, at: number, row: ReturnType<typeof emptyRow>): void {
  row.lot = numbers[LOT]?.[at] ?? 0;
  row.logPrice = numbers[LOG_PRICE]?.[at] ?? 0;
  row.model = codes[LEAF]?.[at] ?? 0;
  row.noise = codes[NOISE]?.[at] ?? 0;
  row.month = codes[MONTH]?.[at] ?? 0;
  row.count = 1;
  row.own.count = 1;
  for (let i = FIRST_LEVEL; i < MONTH_KNOT; i += 1) add(row, codes[i]?.[at] ?? 0, 1);
  for (let line = 0; line < LINES.length; line += 1) {
    const knot = codes[FIRST_KNOT + line]?.[at] ?? NONE;
    const beyond = numbers[FIRST_SHARE + line]?.[at] ?? 0;
    if (knot === NONE) continue;
    add(row, knot, 1 - beyond);
    if (beyond > 0) add(row, knot + 1, beyond);
  }
  add(row, codes[MONTH_KNOT]?.[at] ?? 0, 1);
  for (let i = 0; i < SEGMENTS.length; i += 1) row.segments[i] = codes[FIRST_SEGMENT + i]?.[at] ?? 0;
  for (let i = 0; i < GROUPS.length; i += 1) row.groups[i] = codes[FIRST_GROUP + i]?.[at] ?? NONE;
  for (let i = 0; i < SLOPES.length; i += 1) {
    const { kind, column } = SLOPES[i] ?? { kind: 0, column: 0 };
    row.times[kind] = numbers[column]?.[at] ?? 0;
  }
  row.logBuyNow = numbers[LOG_BUY_NOW]?.[at] ?? Number.NaN;
  row.buyNowShare = numbers[BUY_NOW_SHARE]?.[at] ?? 0;
}

/** The kinds of GROUPS that are slopes, and the columns that their effects are multiplied by. */
const SLOPES = GROUPS.flatMap(({ times }, kind) =>
  times === undefined ? [] : [{ kind, column: times === 'age' ? AGE_SLOPE : MILEAGE_SLOPE }],
);

function add(row: ReturnType<typeof emptyRow>, coefficient: number, share: number): void {
  row.index[row.count] = coefficient;
  row.share[row.count] = share;
  row.count += 1;
  if (row.isShared[coefficient] === 1) return;
  const { own } = row;
  own.index[own.count] = coefficient;
  own.share[own.count] = share;
  own.count += 1;
}
