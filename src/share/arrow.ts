import {
  Bool,
  type DataType,
  DateDay,
  Field,
  Float64,
  Int64,
  List,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
  Vector,
  vectorFromArray,
} from 'apache-arrow';
import type { Columns, Result } from './query.js';

/**
 * A result as an Arrow IPC stream: integers Int64, numbers Float64, dates Date32, instants in UTC microseconds, lists of
 * text List<Utf8>, the rest text.
 */
export function arrowStream(result: Result): Uint8Array {
  const { columns } = result;
  const rows = result.rows.map((row) => columns.map(({ name }) => row[name]));
  const batch = arrowBatch(columns, rows, arrowSchema(columns));
  return RecordBatchStreamWriter.writeAll([batch]).toUint8Array(true);
}

/** Columns as an Arrow schema; every one may be null. */
export function arrowSchema(columns: Columns): Schema {
  return new Schema(columns.map(({ name, type }) => new Field(name, arrowType(type), true)));
}

/** Rows, with their values in the order of the columns, as a record batch of the schema of these. */
export function arrowBatch(
  columns: Columns,
  rows: readonly (readonly unknown[])[],
  schema: Schema,
): RecordBatch {
  const children = columns.map(({ name, type }, i) => {
    const values = rows.map((row) => row[i] ?? null);
    const [data] = vectorOf(values, type).data;
    if (data === undefined) throw new TypeError(`column ${name} has no data`);
    return data;
  });
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: rows.length, children }),
  );
}

function vectorOf(values: readonly unknown[], type: string): Vector {
  if (type.startsWith('TIMESTAMP')) return instants(values, type);
  const arrow = arrowType(type);
  return vectorFromArray(
    values.map((value) => (value === null ? null : toArrow(value, arrow))),
    arrow,
  );
}

function arrowType(type: string): DataType {
  if (/^(U?BIGINT|U?INTEGER|U?SMALLINT|U?TINYINT|HUGEINT)$/.test(type)) return new Int64();
  if (/^(DOUBLE|FLOAT|DECIMAL.*)$/.test(type)) return new Float64();
  if (type.startsWith('TIMESTAMP')) return timestampType(type);
  if (type === 'DATE') return new DateDay();
  if (type === 'VARCHAR[]') return new List(new Field('element', new Utf8(), true));
  return type === 'BOOLEAN' ? new Bool() : new Utf8();
}

const timestampType = (type: string): TimestampMicrosecond =>
  new TimestampMicrosecond(type.includes('TIME ZONE') ? 'UTC' : null);

function toArrow(value: unknown, type: DataType): unknown {
  if (type instanceof Int64) return BigInt(String(value));
  if (type instanceof Float64) return Number(value);
  if (type instanceof DateDay) return new Date(`${value}T00:00:00Z`);
  if (type instanceof Bool || type instanceof List) return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The builder of apache-arrow takes milliseconds as doubles; microseconds are written as they are. */
function instants(values: readonly unknown[], type: string): Vector {
  const data = new BigInt64Array(values.length);
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 64) * 8);
  let nullCount = 0;
  for (const [i, value] of values.entries()) {
    if (value === null) nullCount++;
    else {
      nullBitmap[i >> 3] = (nullBitmap[i >> 3] ?? 0) | (1 << (i & 7));
      data[i] = microseconds(String(value));
    }
  }
  return new Vector([
    makeData({ type: timestampType(type), length: values.length, nullCount, nullBitmap, data }),
  ]);
}

/** Microseconds since 1970 of an instant as DuckDB writes it in UTC: `2026-09-09 19:44:38.123456+00`. */
function microseconds(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace(/\+00$/, '').split('.');
  return BigInt(Date.parse(`${whole.replace(' ', 'T')}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'));
}
