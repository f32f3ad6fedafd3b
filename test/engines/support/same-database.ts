import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Postgres } from './postgres.js';

/** A column, and how its values are written alike by DuckDB and by Postgres. */
function alike(name: string, type: string): { readonly duck: string; readonly postgres: string } {
  const column = `"${name}"`;
  if (type === 'DATE')
    return {
      duck: `epoch_us(${column}::timestamp)::varchar`,
      postgres: `(extract(epoch from ${column}) * 1000000)::bigint::text`,
    };
  if (type.startsWith('TIMESTAMP'))
    return {
      duck: `epoch_us(${column})::varchar`,
      postgres: `(extract(epoch from ${column}) * 1000000)::bigint::text`,
    };
  if (type === 'DOUBLE' || type === 'FLOAT')
    return { duck: `to_json(${column})::varchar`, postgres: `to_json(${column})::text` };
  if (type.endsWith(']') || type.startsWith('STRUCT') || type.startsWith('MAP'))
    return { duck: `to_json(${column})::varchar`, postgres: `to_json(${column})::text` };
  return { duck: `${column}::varchar`, postgres: `${column}::text` };
}

/** Numbers and white space of JSON in one spelling. */
const spelled = (type: string, value: unknown): unknown =>
  value !== null && /DOUBLE|FLOAT|\]|STRUCT|MAP/.test(type) && !/^"?-?(nan|inf)/i.test(String(value))
    ? JSON.stringify(JSON.parse(String(value)))
    : value;

/**
 * The rows in which a table of a database differs from the same table of a snapshot. Nothing of lotlake reads them: DuckDB reads the
 * Parquet files, Postgres its table, and both write each value as text.
 */
export async function differingRows(
  postgres: Postgres,
  schema: string,
  snapshot: string,
  table: string,
  { where = 'true', database = 'site' }: { readonly where?: string; readonly database?: string } = {},
): Promise<{ readonly lacks: readonly string[]; readonly has: readonly string[]; readonly rows: number }> {
  const instance = await DuckDBInstance.create(':memory:');
  const duck = await instance.connect();
  try {
    await duck.run("set TimeZone = 'UTC'");
    const files = `read_parquet('${join(snapshot, table)}/**/*.parquet', hive_partitioning = true, hive_types_autocast = false)`;
    const known = await postgres.query(
      `select column_name as name from information_schema.columns where table_schema = $1 and table_name = $2 order by ordinal_position`,
      [schema, table],
      database,
    );
    const described = await duck.runAndReadAll(`describe select * from ${files}`);
    const types = new Map(
      described.getRowObjectsJson().map((row) => [String(row.column_name), String(row.column_type)]),
    );
    const columns = known.map(({ name }) => ({
      name: String(name),
      type: types.get(String(name)) ?? 'VARCHAR',
    }));
    const list = (side: 'duck' | 'postgres'): string =>
      columns.map(({ name, type }) => `${alike(name, type)[side]} as "${name}"`).join(', ');
    const textOf = (rows: readonly Readonly<Record<string, unknown>>[]): string[] =>
      rows.map((row) => JSON.stringify(columns.map(({ name, type }) => spelled(type, row[name])))).sort();
    const expected = textOf(
      (await duck.runAndReadAll(`select ${list('duck')} from ${files} where ${where}`)).getRowObjectsJson(),
    );
    const is = textOf(
      await postgres.query(`select ${list('postgres')} from "${schema}"."${table}"`, [], database),
    );
    const [had, wanted] = [new Set(is), new Set(expected)];
    return {
      rows: is.length,
      lacks: expected.filter((row) => !had.has(row)),
      has: is.filter((row) => !wanted.has(row)),
    };
  } finally {
    duck.closeSync();
    instance.closeSync();
  }
}
