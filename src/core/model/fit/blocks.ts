import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import { type Factor, GROUPS, isShared, LEVEL_FACTORS, SEGMENTS } from './design.js';

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
  /** The intercept and the coefficients that not all lots of the market have, ascending; the first `count` of the array. */
  readonly index: Int32Array;
  /** What each coefficient is multiplied by. */
  readonly share: Float64Array;
  count: number;
  /** Its level of each of SEGMENTS. */
  readonly segments: Int32Array;
  /** Its group of each of GROUPS; -1 if it is in none. */
  readonly groups: Int32Array;
  /** What the effects of GROUPS are multiplied by. */
  readonly times: Float64Array;
  /** Logarithm of the price that it can or could be bought for before its auction; NaN without one. */
  logBuyNow: number;
  /** Months from the time of the run to its auction; NaN if it is not on offer. */
  ahead: number;
}

/** Some lots of a market, row by row: a fit reads all columns of a row. */
export interface Block {
  readonly numbers: Float64Array;
  readonly codes: Int32Array;
  /** The memory of both. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Number of lots. */
  count: number;
}

/** Most lots of a block. */
export const ROWS = 2048;

/** The columns of lots as SQL gives them, in this order: numbers, where NaN stands for none, and then codes. */
export const NUMBERS = [
  ...['lot', 'log_price', 'age', 'mileage'],
  ...['age_slope', 'mileage_slope', 'log_buy_now', 'ahead'],
];
const LINES = ['age', 'mileage'];
export const CODES = [
  ...['leaf', 'noise', 'month', ...LEVEL_FACTORS],
  ...SEGMENTS.map((name) => `segment_${name}`),
  ...GROUPS.map(({ name }) => `group_${name}`),
];

/** Places of the columns in a block, where age and mileage are the share of the way from their knot to the next one. */
const [LOT, LOG_PRICE, FIRST_SHARE, AGE_SLOPE, MILEAGE_SLOPE, LOG_BUY_NOW, AHEAD] = [0, 1, 2, 4, 5, 6, 7];
const [LEAF, NOISE, MONTH, FIRST_LEVEL] = [0, 1, 2, 3];
const FIRST_SEGMENT = FIRST_LEVEL + LEVEL_FACTORS.length;
const FIRST_GROUP = FIRST_SEGMENT + SEGMENTS.length;
/** The coefficients of the knots at or below age and mileage, after the codes of SQL; NONE if they are unknown. */
const FIRST_KNOT = CODES.length;
const NONE = -1;
/** Numbers and codes of a row. */
const [OF_NUMBERS, OF_CODES] = [NUMBERS.length, CODES.length + LINES.length];

/** A block without lots. */
export function emptyBlock(): Block {
  const firstCode = 8 * ROWS * OF_NUMBERS;
  const bytes = new Uint8Array(firstCode + 4 * ROWS * OF_CODES);
  return {
    numbers: new Float64Array(bytes.buffer, 0, ROWS * OF_NUMBERS),
    codes: new Int32Array(bytes.buffer, firstCode),
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
  const move = (column: number, values: Float64Array | Int32Array, place: number, width: number): void => {
    const vector = chunk.getColumnVector(column);
    for (let row = 0; row < rows; row += 1)
      values[(block.count + row) * width + place] = Number(vector.getItem(from + row));
  };
  for (let i = 0; i < NUMBERS.length; i += 1) move(i, block.numbers, i, OF_NUMBERS);
  for (let i = 0; i < CODES.length; i += 1) move(NUMBERS.length + i, block.codes, i, OF_CODES);
  block.count += rows;
  return rows;
}

/** Places age and mileage between their knots. */
function placed(block: Block, factors: readonly Factor[]): Block {
  for (const [line, name] of LINES.entries()) {
    const { offset = 0, knots = [] } = factors.find((factor) => factor.name === name) ?? {};
    for (let row = 0; row < block.count; row += 1) {
      const at = row * OF_NUMBERS + FIRST_SHARE + line;
      const value = block.numbers[at] ?? Number.NaN;
      let knot = 0;
      while (value >= (knots[knot + 1] ?? Infinity)) knot += 1;
      const below = knots[knot] ?? 0;
      // Beyond the last knot the share is 0, and below the first one, too.
      const share = (value - below) / ((knots[knot + 1] ?? Infinity) - below);
      block.codes[row * OF_CODES + FIRST_KNOT + line] = Number.isNaN(value) ? NONE : offset + knot;
      block.numbers[at] = Math.max(0, share);
    }
  }
  return block;
}

/** Whether the lot at a place of a block has a price. */
export const isPriced = ({ numbers }: Block, at: number): boolean =>
  !Number.isNaN(numbers[at * OF_NUMBERS + LOG_PRICE]);

/** The month of the lot at a place of a block. */
export const monthAt = ({ codes }: Block, at: number): number => codes[at * OF_CODES + MONTH] ?? 0;

/** Copies a lot to the end of another block. */
export function copyRow(block: Block, at: number, to: Block): void {
  to.numbers.set(block.numbers.subarray(at * OF_NUMBERS, (at + 1) * OF_NUMBERS), to.count * OF_NUMBERS);
  to.codes.set(block.codes.subarray(at * OF_CODES, (at + 1) * OF_CODES), to.count * OF_CODES);
  to.count += 1;
}

/** Reads the lot at a place of a block into a row, which the next lot overwrites. */
export type ReadRow = (block: Block, at: number) => PricedRow;

/** A reader of the lots of a market with these factors. */
export function rowReader(factors: readonly Factor[]): ReadRow {
  const own = factors.filter((factor) => !isShared(factor)).map(({ name }) => name);
  const levels = Int32Array.from(
    LEVEL_FACTORS.flatMap((name, i) => (own.includes(name) ? [FIRST_LEVEL + i] : [])),
  );
  const { offset: firstMonth = 0 } = factors.find(({ name }) => name === 'month') ?? {};
  const row = emptyRow(1 + levels.length + 2 * LINES.length + 1);
  const { index, share, segments, groups, times } = row;
  return ({ numbers, codes }, at) => {
    const number = at * OF_NUMBERS;
    const code = at * OF_CODES;
    row.lot = numbers[number + LOT] ?? 0;
    row.logPrice = numbers[number + LOG_PRICE] ?? 0;
    row.model = codes[code + LEAF] ?? 0;
    row.noise = codes[code + NOISE] ?? 0;
    row.month = codes[code + MONTH] ?? 0;
    let count = 1;
    for (let i = 0; i < levels.length; i += 1) {
      index[count] = codes[code + (levels[i] ?? 0)] ?? 0;
      share[count] = 1;
      count += 1;
    }
    for (let line = 0; line < LINES.length; line += 1) {
      const knot = codes[code + FIRST_KNOT + line] ?? NONE;
      const beyond = numbers[number + FIRST_SHARE + line] ?? 0;
      if (knot === NONE) continue;
      index[count] = knot;
      share[count] = 1 - beyond;
      count += 1;
      if (beyond === 0) continue;
      index[count] = knot + 1;
      share[count] = beyond;
      count += 1;
    }
    index[count] = firstMonth + row.month;
    share[count] = 1;
    row.count = count + 1;
    for (let i = 0; i < SEGMENTS.length; i += 1) segments[i] = codes[code + FIRST_SEGMENT + i] ?? 0;
    for (let i = 0; i < GROUPS.length; i += 1) groups[i] = codes[code + FIRST_GROUP + i] ?? NONE;
    for (let i = 0; i < SLOPES.length; i += 1) {
      const { kind, column } = SLOPES[i] ?? { kind: 0, column: 0 };
      times[kind] = numbers[number + column] ?? 0;
    }
    row.logBuyNow = numbers[number + LOG_BUY_NOW] ?? Number.NaN;
    row.ahead = numbers[number + AHEAD] ?? 0;
    return row;
  };
}

/** A row for at most so many coefficients, the intercept first. */
function emptyRow(terms: number): PricedRow {
  const [index, share] = [new Int32Array(terms), new Float64Array(terms)];
  share[0] = 1;
  return {
    lot: 0,
    model: 0,
    noise: 0,
    logPrice: 0,
    month: 0,
    index,
    share,
    count: 1,
    segments: new Int32Array(SEGMENTS.length),
    groups: new Int32Array(GROUPS.length),
    times: new Float64Array(GROUPS.length).fill(1),
    logBuyNow: Number.NaN,
    ahead: 0,
  };
}

/** The kinds of GROUPS that are slopes, and the columns that their effects are multiplied by. */
const SLOPES = GROUPS.flatMap(({ times }, kind) =>
  times === undefined ? [] : [{ kind, column: times === 'age' ? AGE_SLOPE : MILEAGE_SLOPE }],
);
