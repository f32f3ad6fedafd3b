import type { DuckDBConnection } from '@duckdb/node-api';
import { identifier, row, rows } from '../duck/session.js';
import type { Column } from '../lake/schema.js';
import { clip, printable } from '../query/printable.js';

/** What a snapshot says of a column. */
export interface ColumnFacts {
  /** Rows that have no value, from 0 to 1; undefined in a table without rows. */
  readonly nullRate: number | undefined;
  /** Values as one line of text each, at most 3, the most frequent first; shortened, without control characters. */
  readonly examples: readonly string[];
}

/** A table of a snapshot; the manifest gives its rows. */
export interface Described {
  readonly name: string;
  readonly key: readonly string[];
  readonly rows: number;
  readonly columns: readonly Column[];
}

/** Rows that examples are taken from. */
const SAMPLE = 200;
const EXAMPLES = 3;
/** Longest example, in characters. */
const LONGEST = 48;

/** Columns whose values are not shown, since they hold whole records. */
const HIDDEN: ReadonlySet<string> = new Set(['rejects.raw']);

/**
 * Counts the nulls of every column and takes examples. The examples come from rows that a hash of the key picks, the same
 * ones every time; a column that is null in all of them shows its least value. Each is a scan of its own, since one over
 * all of it held too much of a wide table in memory.
 * @param connection has the table by its name
 */
export async function columnFacts(
  connection: DuckDBConnection,
  table: Described,
): Promise<ReadonlyMap<string, ColumnFacts>> {
  const { columns } = table;
  const shown = columns.filter(({ name }) => !HIDDEN.has(`${table.name}.${name}`));
  if (table.rows === 0 || columns.length === 0) return new Map();
  const picked = `hash(${table.key.map(identifier).join(', ')}) % ${Math.ceil(table.rows / SAMPLE)} = 0`;
  const values = shown.map(({ name, type }) => textOf(identifier(name), type)).join(', ');
  const name = identifier(table.name);
  const nulls = columns.map((column) => `count(${identifier(column.name)})`).join(', ');
  const counts = listOf((await row(connection, `select [${nulls}] as counts from ${name}`)).counts).map(
    Number,
  );
  const found = await rows(connection, `select [${values}] as picked from ${name} where ${picked}`);
  const sample = found.map((each) => listOf(each.picked));
  const samples = new Map(shown.map(({ name }, at) => [name, sample.map((row) => row[at])]));
  const isRare = (column: Column): boolean =>
    (counts[columns.indexOf(column)] ?? 0) > 0 &&
    (samples.get(column.name) ?? []).every((value) => value === null);
  const least = await leastValues(connection, table.name, shown.filter(isRare));
  return new Map(
    columns.map((column, place) => {
      const examples = examplesOf(least.get(column.name) ?? samples.get(column.name) ?? []);
      return [column.name, { nullRate: 1 - (counts[place] ?? 0) / table.rows, examples }];
    }),
  );
}

/** The least value of each of some columns, by name: what the sample did not show. */
async function leastValues(
  connection: DuckDBConnection,
  table: string,
  columns: readonly Column[],
): Promise<ReadonlyMap<string, readonly unknown[]>> {
  if (columns.length === 0) return new Map();
  const values = columns.map(({ name, type }) => textOf(`min(${identifier(name)})`, type));
  const found = await row(connection, `select [${values.join(', ')}] as least from ${identifier(table)}`);
  return new Map(columns.map(({ name }, at) => [name, [listOf(found.least)[at]]]));
}

/** A value as text, cut to what is shown; a DOUBLE is rounded. */
function textOf(sql: string, type: string): string {
  const value = type === 'DOUBLE' ? `round(${sql}, 4)` : sql;
  return `left(cast(${value} as varchar), ${LONGEST + 1})`;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The most frequent values; of equally frequent ones, the first in the order of text. */
function examplesOf(values: readonly unknown[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const value of values) {
    const example = clip(printable(value).trim(), LONGEST);
    if (example !== '') counts.set(example, (counts.get(example) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, EXAMPLES)
    .map(([value]) => value);
}
