import { identifier } from '../../base/duck/session.js';
import type { Column } from '../../core/lake/schema.js';

/** Types of Postgres by the types that Parquet files have in DuckDB. Integers without a sign get the next larger type. */
const TYPES: Readonly<Record<string, string>> = {
  BOOLEAN: 'boolean',
  TINYINT: 'smallint',
  UTINYINT: 'smallint',
  SMALLINT: 'smallint',
  USMALLINT: 'integer',
  INTEGER: 'integer',
  UINTEGER: 'bigint',
  BIGINT: 'bigint',
  UBIGINT: 'numeric',
  FLOAT: 'real',
  DOUBLE: 'double precision',
  VARCHAR: 'text',
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'timestamp',
  TIMESTAMP_S: 'timestamp',
  TIMESTAMP_MS: 'timestamp',
  TIMESTAMP_NS: 'timestamp',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
  UUID: 'uuid',
};

const DECIMAL = /^DECIMAL\([^)]*\)$/;

/** A list of values that have a type of their own in Postgres. */
const listOf = (type: string): string | undefined => {
  const of = type.endsWith('[]') ? type.slice(0, -2) : '';
  return of in TYPES || DECIMAL.test(of) ? of : undefined;
};

/** The type of a column in Postgres. Nested values, other than lists of plain ones, are `jsonb`. */
export function pgType(type: string): string {
  const of = listOf(type);
  if (of !== undefined) return `${pgType(of)}[]`;
  if (DECIMAL.test(type)) return type.replace('DECIMAL', 'numeric');
  return TYPES[type] ?? 'jsonb';
}

/** Whether a value needs quotes in CSV: an empty text is none, and null is an empty field without quotes. */
const isText = (type: string): boolean => ['text', 'jsonb'].includes(pgType(type)) || type.endsWith('[]');

/** Stands for NUL, which no text of Postgres holds. */
const REPLACED = "'\ufffd'";

/** The first instant of Postgres, in 4713 BC, as DuckDB writes it, and its last date. What lies beyond is infinite. */
const FIRST = '4713-01-01 (BC)';
const LAST = '5874897-12-31';

/** SQL of DuckDB for a value as Postgres reads it in CSV. */
function csvValue(value: string, type: string): string {
  if (type === 'VARCHAR') return `replace(${value}, chr(0), ${REPLACED})`;
  // Postgres takes −0 for 0 where it compares.
  if (type === 'DOUBLE' || type === 'FLOAT') return `(${value} + cast(0 as ${type}))`;
  // It has no year before 1677.
  if (type === 'TIMESTAMP_NS') return `cast(${value} as timestamp)`;
  if (type === 'DATE' || type.startsWith('TIMESTAMP')) return timeOf(value, type);
  const of = listOf(type);
  if (of !== undefined) {
    const each = `replace(replace(${csvValue('each', of)}::varchar, '\\', '\\\\'), '"', '\\"')`;
    const items = `list_transform(${value}, lambda each: case when each is null then 'NULL' else '"' || ${each} || '"' end)`;
    return `case when ${value} is not null then '{' || coalesce(array_to_string(${items}, ','), '') || '}' end`;
  }
  if (pgType(type) !== 'jsonb') return value;
  // Twice, since a match takes the character before it.
  const nul = (text: string): string =>
    String.raw`regexp_replace(${text}, '(^|[^\\])((?:\\\\)*)\\u0000', '\1\2\\ufffd', 'g')`;
  return nul(nul(`to_json(${value})::varchar`));
}

/** Postgres writes BC behind the time, where DuckDB has it behind the date. */
function timeOf(value: string, type: string): string {
  const text = `cast(${value} as varchar)`;
  const moved = String.raw`regexp_replace(${text}, '^(\S+) \(BC\)(.*)$', '\1\2 BC')`;
  const late = type === 'DATE' ? `when ${value} > date '${LAST}' then 'infinity' ` : '';
  return `case ${late}when ${value} >= cast('0001-01-01' as ${type}) then ${text}
    when ${value} < cast('${FIRST}' as ${type}) then '-infinity' else ${moved} end`;
}

/** SELECT of the columns of a relation as Postgres reads them in CSV, see {@link copyOptions}. */
export const asCsv = (columns: readonly Column[], relation: string): string =>
  `select ${columns.map(({ name, type }) => `${csvValue(identifier(name), type)} as ${identifier(name)}`).join(', ')} from ${relation}`;

/** Options of DuckDB's COPY for the CSV that Postgres reads. */
export function copyOptions(columns: readonly Column[]): string {
  const quoted = columns.filter(({ type }) => isText(type)).map(({ name }) => identifier(name));
  const force = quoted.length === 0 ? '' : `, force_quote (${quoted.join(', ')})`;
  return `format csv, header false, nullstr ''${force}`;
}
