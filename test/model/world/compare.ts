import type { MartRow } from './night.js';

/** Amounts are rounded to the cent. At half a cent the last digit of the sum decides, and it depends on the order. */
const ABSOLUTE = 0.0101;
const RELATIVE = 1e-6;

/**
 * Describes the first ten or so differences between the rows of a mart and of its oracle: keys that only one of them
 * has or that occur twice, and values. Columns that the oracle lacks count as well.
 */
export function compareRows(
  actual: readonly MartRow[],
  expected: readonly MartRow[],
  key: readonly string[],
): string[] {
  const keyOf = (row: MartRow): string => JSON.stringify(key.map((column) => row[column]));
  const found: string[] = [];
  const given = new Map(expected.map((row) => [keyOf(row), row]));
  if (given.size !== expected.length) found.push(`the oracle has ${expected.length - given.size} rows twice`);
  if (actual.length !== expected.length) found.push(`${actual.length} rows, not ${expected.length}`);
  for (const row of actual) {
    const other = given.get(keyOf(row));
    given.delete(keyOf(row));
    if (other === undefined) found.push(`${keyOf(row)} is not in the oracle`);
    else
      for (const column of new Set([...Object.keys(row), ...Object.keys(other)]))
        if (!isSame(row[column], other[column]))
          found.push(`${keyOf(row)} ${column} is ${row[column]}, the oracle has ${other[column]}`);
    if (found.length >= 10) return found;
  }
  for (const missing of [...given.keys()].slice(0, 5)) found.push(`${missing} is not in the mart`);
  return found;
}

function isSame(a: MartRow[string] | undefined, b: MartRow[string] | undefined): boolean {
  // A list of DuckDB, whose text is that of an array.
  if (Array.isArray(b)) return String(a) === String(b);
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  const difference = Math.abs(a - b);
  // Shares and ratios are small, so a cent is too much for them.
  return difference <= RELATIVE * Math.max(1, Math.abs(a)) || (Math.abs(a) > 20 && difference <= ABSOLUTE);
}
