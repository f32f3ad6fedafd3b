import type { Span } from './find-any.js';

/** Longest escape of one character, with a backslash before that of JSON in JSON. */
export const MOST_ESCAPED = '\\\\u0041'.length;

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const [LETTER_U, ZERO, QUOTE, SLASH] = [0x75, 0x30, 0x22, 0x2f];

/** A text without escapes, and where each of its characters begins in what was decoded. */
export interface Decoded {
  readonly bytes: Buffer;
  /** One place more than characters: the last is the end. */
  readonly places: Int32Array;
}

/**
 * The parts of bytes around each escape of one of these characters (`\u0041`, `%41`). A mixture of plain and escaped
 * characters that has no such escape is plain. In addresses only letters and digits count, which nobody has to escape:
 * `%2F` stands in many of them.
 * @param reach bytes before and behind an escape that belong to its part
 */
export function escapedParts(bytes: Buffer, characters: ReadonlySet<number>, reach: number): Span[] {
  const letters = new Set([...characters].filter((code) => /\w/.test(String.fromCharCode(code))));
  const parts: { begin: number; end: number }[] = [];
  /** Adds the part around an escape; one that touches the last is joined to it at once, since a body may have many. */
  const add = (at: number, digits: number, counting: ReadonlySet<number>): void => {
    if (!counting.has(hexAt(bytes, at + digits) ?? -1)) return;
    const [begin, end] = [Math.max(0, at - reach), Math.min(bytes.length, at + reach)];
    const last = parts.at(-1);
    if (last !== undefined && begin >= last.begin && begin <= last.end) last.end = Math.max(last.end, end);
    else parts.push({ begin, end });
  };
  for (let at = bytes.indexOf('\\u00'); at >= 0; at = bytes.indexOf('\\u00', at + 4)) add(at, 4, characters);
  for (let at = bytes.indexOf(PERCENT); at >= 0; at = bytes.indexOf(PERCENT, at + 1)) add(at, 1, letters);
  return merged(parts);
}

/** Spans in their order, those that touch joined. */
export function merged(spans: readonly Span[]): Span[] {
  const joined: { begin: number; end: number }[] = [];
  for (const { begin, end } of [...spans].sort((a, b) => a.begin - b.begin)) {
    const last = joined.at(-1);
    if (last !== undefined && begin <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ begin, end });
  }
  return joined;
}

/** The value of a hexadecimal digit by its byte; 16 for any other byte. */
const DIGITS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? 16 : value;
});

/** The byte that two hexadecimal digits write; undefined if they are none. */
function hexAt(bytes: Uint8Array, at: number): number | undefined {
  const [high, low] = [DIGITS[bytes[at] ?? 0] ?? 16, DIGITS[bytes[at + 1] ?? 0] ?? 16];
  return high < 16 && low < 16 ? high * 16 + low : undefined;
}

/**
 * Decodes the escapes in a part of bytes: as JSON has them, also in JSON within JSON, and those of addresses. Any other byte
 * stands for itself. It runs over much of a body that has many escapes, so it makes no objects.
 */
export function decode(bytes: Buffer, { begin, end }: Span): Decoded {
  const decoded = Buffer.alloc(end - begin);
  const places = new Int32Array(end - begin + 1);
  let length = 0;
  for (let at = begin; at < end; length++) {
    let code = bytes[at] ?? 0;
    let next = at + 1;
    if (code === PERCENT) {
      const written = hexAt(bytes, at + 1);
      if (written !== undefined) [code, next] = [written, at + 3];
    } else if (code === BACKSLASH) {
      while (bytes[next] === BACKSLASH) next++;
      const escaped = bytes[next] ?? 0;
      const isCode = escaped === LETTER_U && bytes[next + 1] === ZERO && bytes[next + 2] === ZERO;
      const written = isCode ? hexAt(bytes, next + 3) : undefined;
      if (written !== undefined) [code, next] = [written, next + 5];
      else if (escaped === QUOTE || escaped === SLASH) [code, next] = [escaped, next + 1];
    }
    decoded[length] = code;
    places[length] = at;
    at = next;
  }
  places[length] = end;
  return { bytes: decoded.subarray(0, length), places };
}
