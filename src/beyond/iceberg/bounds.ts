import type { PrimitiveType } from './iceberg-schema.js';

/** Most characters of a bound. */
const KEPT = 16;

const LAST_CHARACTER = 0x10ffff;

/** A text that is greater than all texts with this prefix; undefined if there is none. */
function roundUp(text: string): string | undefined {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === LAST_CHARACTER) continue;
    // Surrogates are not characters.
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return String.fromCodePoint(...points, next);
  }
  return undefined;
}

/** Microseconds since 1970 of an instant as DuckDB prints it in UTC; undefined unless the year has four digits. */
function microseconds(text: string): bigint | undefined {
  const [, date, time, fraction = ''] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/.exec(text) ?? [];
  const seconds = Date.parse(`${date}T${time}Z`) / 1000;
  return Number.isNaN(seconds) ? undefined : BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
}

const DAY = /^\d{4}-\d\d-\d\d$/;

/** A value in a form that can be compared. */
type Value = number | bigint | string;

/** Parses a value of a Parquet footer; undefined if the text is not a value of the type, such as `nan`. */
function parseValue(text: string, type: PrimitiveType): Value | undefined {
  switch (type) {
    case 'boolean':
      return text === 'true' ? 1 : 0;
    case 'int':
    case 'long':
      return /^-?\d+$/.test(text) ? BigInt(text) : undefined;
    case 'double':
      return Number.isFinite(Number(text)) ? Number(text) : undefined;
    case 'date':
      return DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) / 86_400_000 : undefined;
    case 'timestamptz':
      return microseconds(text);
    case 'string':
      return text;
  }
}

/** A value in the single-value serialization of Iceberg. */
function serialize(value: Value, type: PrimitiveType): Buffer {
  if (type === 'string') return Buffer.from(String(value));
  if (type === 'boolean') return Buffer.from([Number(value)]);
  const bytes = Buffer.alloc(type === 'int' || type === 'date' ? 4 : 8);
  if (type === 'double') bytes.writeDoubleLE(Number(value));
  else if (bytes.length === 4) bytes.writeInt32LE(Number(value));
  else bytes.writeBigInt64LE(BigInt(value));
  return bytes;
}

/** Compares texts in UTF-8, which has the order of code points. UTF-16, as JavaScript compares, does not. */
const isLess = (a: Value, b: Value): boolean =>
  typeof a === 'string' && typeof b === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0 : a < b;

/**
 * The smallest or largest value of a column in one file.
 * @param texts smallest or largest value of each row group, as DuckDB prints it in UTC
 * @returns undefined if a text is not a value of the type, or no short bound exists
 */
export function boundOf(
  texts: readonly string[],
  type: PrimitiveType,
  side: 'lower' | 'upper',
): Buffer | undefined {
  const values = texts.map((text) => parseValue(text, type));
  if (values.length === 0 || values.includes(undefined)) return undefined;
  const found = values
    .filter((value) => value !== undefined)
    .reduce((best, value) => (isLess(value, best) === (side === 'lower') ? value : best));
  const bound = typeof found === 'string' ? shorten(found, side) : signedZero(found, side);
  return bound === undefined ? undefined : serialize(bound, type);
}

function shorten(text: string, side: 'lower' | 'upper'): string | undefined {
  const characters = [...text];
  if (characters.length <= KEPT) return text;
  const start = characters.slice(0, KEPT).join('');
  return side === 'lower' ? start : roundUp(start);
}

/** Some readers order -0 before 0. SQL does not, so a bound includes both. */
function signedZero(value: number | bigint, side: 'lower' | 'upper'): number | bigint {
  if (value !== 0) return value;
  return side === 'lower' ? -0 : 0;
}
