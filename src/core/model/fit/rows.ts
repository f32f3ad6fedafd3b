import { closeSync, readSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import { openNew, remove, writeTo } from '../../../base/config/owned.js';
import {
  type Block,
  copyRow,
  emptyBlock,
  isPriced,
  monthAt,
  type PricedRow,
  type ReadRow,
  ROWS,
  readBlocks,
  rowReader,
} from './blocks.js';
import type { Factor } from './design.js';

/** Visits lots of a market in the order of their SELECT. */
export type Visit = (visit: (row: PricedRow) => void) => void;

/** The first month, and the month after the last. */
export type Months = readonly [number, number];

/** A block in the file: its number of lots, and its months. */
interface Written {
  readonly count: number;
  readonly months: Months;
}

/**
 * Writes the lots of a SELECT, which come in order of their month, into a file, because a fit reads them many times and its
 * memory must not grow with their number.
 */
export async function writeRows(
  connection: DuckDBConnection,
  sql: string,
  factors: readonly Factor[],
  path: string,
) {
  const file = openNew(path);
  const close = (): void => {
    closeSync(file);
    remove(path);
  };
  try {
    const read = rowReader(factors);
    const prices: number[] = [];
    const written: Written[] = [];
    for await (const block of readBlocks(connection, sql, factors)) {
      writeTo(file, block.bytes);
      written.push({ count: block.count, months: [monthAt(block, 0), monthAt(block, block.count - 1) + 1] });
      for (let at = 0; at < block.count; at += 1)
        if (isPriced(block, at)) prices[monthAt(block, at)] = (prices[monthAt(block, at)] ?? 0) + 1;
    }
    return {
      /** Prices by month. */
      prices,
      /** All lots, also those without a price. */
      all: (visit: (row: PricedRow) => void) => visitBlocks(fileBlocks(file, written), read, visit),
      /** The lots with a price of some months. */
      priced:
        (months: Months): Visit =>
        (visit) =>
          visitBlocks(fileBlocks(file, written, months), read, visit, months),
      /** One in so many of them, held in memory. */
      sample(months: Months, every: number): Visit {
        const held = sampleOf(fileBlocks(file, written, months), every);
        return (visit) => visitBlocks(held, read, visit, months);
      },
      /** Removes the file. */
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** The blocks that have lots of some months. The next one overwrites the one before. */
function* fileBlocks(
  file: number,
  written: readonly Written[],
  [from, to]: Months = [0, Infinity],
): Generator<Block> {
  const block = emptyBlock();
  for (const [i, { count, months }] of written.entries()) {
    if (months[0] >= to || months[1] <= from) continue;
    readSync(file, block.bytes, 0, block.bytes.length, i * block.bytes.length);
    block.count = count;
    yield block;
  }
}

/** Reads lots of blocks one after the other; without months, also those without a price. */
function visitBlocks(
  blocks: Iterable<Block>,
  read: ReadRow,
  visit: (row: PricedRow) => void,
  months?: Months,
): void {
  for (const block of blocks) visitBlock(block, read, visit, months);
}

/** A function of its own, which is compiled once for all blocks. */
function visitBlock(block: Block, read: ReadRow, visit: (row: PricedRow) => void, months?: Months): void {
  for (let at = 0; at < block.count; at += 1) {
    if (months !== undefined) {
      const month = monthAt(block, at);
      if (month < months[0] || month >= months[1] || !isPriced(block, at)) continue;
    }
    visit(read(block, at));
  }
}

/** Copies the lots at every so many places of each block. */
function sampleOf(blocks: Iterable<Block>, every: number): Block[] {
  const held: Block[] = [];
  for (const block of blocks)
    for (let at = 0; at < block.count; at += every) {
      if (!isPriced(block, at)) continue;
      if ((held.at(-1)?.count ?? ROWS) === ROWS) held.push(emptyBlock());
      const last = held.at(-1);
      if (last !== undefined) copyRow(block, at, last);
    }
  return held;
}
