import {
  Bool,
  type DataType,
  Float64,
  Int64,
  makeData,
  Table,
  TimestampMicrosecond,
  tableToIPC,
  Utf8,
  Vector,
  vectorFromArray,
} from 'apache-arrow';
import type { Result } from './query.js';

/** A result as an Arrow IPC stream: integers Int64, numbers Float64, instants in UTC microseconds, the rest text. */
export function arrowStream(result: Result): Uint8Array {
  const vectors = result.columns.map(({ name, type }): [string, Vector] => [
    name,
    vectorOf(
      result.rows.map((row) => row[name] ?? null),
      type,
    ),
  ]);
  return tableToIPC(new Table(Object.fromEntries(vectors)), 'stream');
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
  return type === 'BOOLEAN' ? new Bool() : new Utf8();
}

function toArrow(value: unknown, type: DataType): unknown {
  if (type instanceof Int64) return BigInt(String(value));
  if (type instanceof Float64) return Number(value);
  if (type instanceof Bool) return value;
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
  const zone = type.includes('TIME ZONE') ? 'UTC' : null;
  return new Vector([
    makeData({ type: new TimestampMicrosecond(zone), length: values.length, nullCount, nullBitmap, data }),
  ]);
}

/** Microseconds since 1970 of an instant as DuckDB writes it in UTC: `2026-09-09 19:44:38.123456+00`. */
function microseconds(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace(/\+00$/, '').split('.');
  return BigInt(Date.parse(`${whole.replace(' ', 'T')}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'));
}
