import type { DuckDBConnection } from '@duckdb/node-api';
import { clip, printable } from '../../base/config/printable.js';
import { identifier, type Row, rows } from '../../base/duck/session.js';
import type { Column } from '../../core/lake/schema.js';
import type { TableEntry } from '../../core/model/dictionary.js';

/** What a snapshot says about a column. */
export interface ColumnFacts {
  /** Share of rows without a value, from 0 to 1. */
  readonly nullRate: number;
  /** At most 3 values, the most frequent first, each clipped to one line of text without control characters. */
  readonly examples: readonly string[];
}

/** A table of a snapshot, with the number of its rows. */
type Described = Pick<TableEntry, 'name' | 'key' | 'rows'> & { readonly columns: readonly Column[] };

/** Rows that examples are taken from. */
const SAMPLE = 200;
const EXAMPLES = 3;
/** Longest example, in characters. */
const LONGEST = 48;

/** Columns that show no values, since they hold whole records. */
const HIDDEN: ReadonlySet<string> = new Set(['rejects.raw']);

/**
 * Counts the nulls of every column and takes examples. A hash of the key picks the rows for examples, so they are the same
 * every time; a column that is null in all of them shows its least value. Counts, examples and least values are three
 * scans, since a single one held too much of a wide table in memory.
 * @param connection has the table by its name
 */
export async function columnFacts(
  connection: DuckDBConnection,
  table: Described,
): Promise<ReadonlyMap<string, ColumnFacts>> {
  const { columns, rows: total } = table;
  if (total === 0 || total === null || columns.length === 0) return new Map();
  const counts = (await readValues(connection, table, columns, (name) => `count(${name})`))[0];
  const shown = columns.filter(
    ({ name }) => Number(counts?.[name]) > 0 && !HIDDEN.has(`${table.name}.${name}`),
  );
  const picked = ` where hash(${table.key.map(identifier).join(', ')}) % ${Math.ceil(total / SAMPLE)} = 0`;
  const sample = await readValues(connection, table, shown, textOf, picked);
  const rare = shown.filter(({ name }) => sample.every((row) => row[name] === null));
  const least = await readValues(connection, table, rare, (name, type) => textOf(`min(${name})`, type));
  const factsOf = ({ name }: Column): ColumnFacts => ({
    nullRate: 1 - Number(counts?.[name]) / total,
    examples: examplesOf([...sample, ...least].map((row) => row[name])),
  });
  return new Map(columns.map((column) => [column.name, factsOf(column)]));
}

/**
 * Reads a value of each column, under the column's name.
 * @param sqlOf makes the SQL of the value from the SQL and type of the column
 */
async function readValues(
  connection: DuckDBConnection,
  table: Described,
  columns: readonly Column[],
  sqlOf: (column: string, type: string) => string,
  where = '',
): Promise<Row[]> {
  if (columns.length === 0) return [];
  const values = columns.map(({ name, type }) => `${sqlOf(identifier(name), type)} as ${identifier(name)}`);
  return rows(connection, `select ${values.join(', ')} from ${identifier(table.name)}${where}`);
}

/** SQL of a value as text, cut to what is shown; a DOUBLE is rounded. */
function textOf(sql: string, type: string): string {
  const value = type === 'DOUBLE' ? `round(${sql}, 4)` : sql;
  return `left(cast(${value} as varchar), ${LONGEST + 1})`;
}

/** The most frequent values; equally frequent ones in the order of text. */
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
