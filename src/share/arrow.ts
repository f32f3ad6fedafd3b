import {
  Bool,
  type DataType,
  Float64,
  Int64,
  Table,
  TimestampMicrosecond,
  tableFromArrays,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import type { Result } from './query.js';

/** A result as an Arrow IPC stream: integers Int64, numbers Float64, instants in UTC microseconds, the rest text. */
export function arrowStream(result: Result): Uint8Array {
  const vectors = Object.fromEntries(
    result.columns.map(({ name, type }) => {
      const values = result.rows.map((row) => row[name]);
      return [
        name,
        vectorFromArray(
          values.map((value) => toArrow(value, type)),
          arrowType(type),
        ),
      ];
    }),
  );
  const table = result.columns.length === 0 ? tableFromArrays({}) : new Table(vectors);
  return tableToIPC(table, 'stream');
}

function arrowType(type: string): DataType {
  if (/^(U?BIGINT|U?INTEGER|U?SMALLINT|U?TINYINT|HUGEINT)$/.test(type)) return new Int64();
  if (/^(DOUBLE|FLOAT|DECIMAL.*)$/.test(type)) return new Float64();
  if (type === 'BOOLEAN') return new Bool();
  if (type.startsWith('TIMESTAMP'))
    return new TimestampMicrosecond(type.includes('TIME ZONE') ? 'UTC' : null);
  return new Utf8();
}

function toArrow(value: unknown, type: string): unknown {
  if (value === null || value === undefined) return null;
  const arrow = arrowType(type);
  if (arrow instanceof Int64) return BigInt(String(value));
  if (arrow instanceof Float64) return Number(value);
  if (arrow instanceof TimestampMicrosecond) return microseconds(String(value));
  if (arrow instanceof Bool) return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Microseconds since 1970 of an instant as DuckDB writes it in UTC: `2026-09-09 19:44:38.123456+00`. */
function microseconds(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace(/\+00$/, '').split('.');
  return BigInt(Date.parse(`${whole.replace(' ', 'T')}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0') || 0);
}
