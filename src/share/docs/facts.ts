import type { DuckDBConnection } from '@duckdb/node-api';
import type { Column } from '../../lake/schema.js';
import { identifier, row } from '../../lake/session.js';
import { clip, printable } from '../printable.js';

/** What a snapshot says of a column. */
export interface ColumnFacts {
  /** Rows that have no value, from 0 to 1; undefined in a table without rows. */
  readonly nullRate: number | undefined;
  /** Values as one line of text each, at most 3, the most frequent first; shortened, without control characters. */
  readonly examples: readonly string[];
}

/** A table of a snapshot of which facts are asked for; its rows are in the manifest. */
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

/** Columns that hold records as they came: not shown. */
const HIDDEN: ReadonlySet<string> = new Set(['rejects.raw']);

/**
 * Counts the nulls of every column and takes examples, in one scan of the table. The examples come from rows that a hash
 * of the key picks, the same ones every time; a column that is null in all of them shows its least value.
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
  // FILTER alone would turn every row into text: 8.8 s for a million lots instead of 1.0.
  const found = await row(
    connection,
    `select
      [${columns.map(({ name }) => `count(${identifier(name)})`).join(', ')}] as counts,
      [${shown.map(({ name, type }) => textOf(`min(${identifier(name)})`, type)).join(', ')}] as least,
      list(case when ${picked} then [${values}] end) filter (where ${picked}) as picked
     from ${identifier(table.name)}`,
  );
  const counts = listOf(found.counts).map(Number);
  const least = listOf(found.least);
  const sample = listOf(found.picked).map(listOf);
  return new Map(
    columns.map((column, place) => {
      const at = shown.indexOf(column);
      const examples = at < 0 ? [] : examplesOf([...sample.map((values) => values[at]), least[at]]);
      return [column.name, { nullRate: 1 - (counts[place] ?? 0) / table.rows, examples }];
    }),
  );
}

/** A value as text, cut to what is shown; a third is no sixteen digits. */
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
