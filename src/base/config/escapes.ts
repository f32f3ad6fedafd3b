import type { Span } from './find-any.js';

/** Longest escape of one character, with a backslash before that of JSON in JSON. */
export const MOST_ESCAPED = '\\\\u0041'.length;

const BACKSLASH = 0x5c;
const PERCENT = 0x25;

/** A character escaped as JSON does, also twice, or as in an address. */
const ESCAPED = /\\+u00([0-9a-fA-F]{2})|%([0-9a-fA-F]{2})|\\+(["/\\])/y;

/** A text without escapes, and where each of its characters begins in what was decoded. */
export interface Decoded {
  readonly bytes: Buffer;
  /** One place more than characters: the last is the end. */
  readonly places: readonly number[];
}

/**
 * The parts of bytes around each escape of one of these characters (`\u0041`, `%41`). A mixture of plain and escaped
 * characters that has no such escape is plain.
 * @param reach bytes before and behind an escape that belong to its part
 */
export function escapedParts(bytes: Buffer, characters: ReadonlySet<number>, reach: number): Span[] {
  const parts: { begin: number; end: number }[] = [];
  const add = (at: number, digits: number): void => {
    const code = Number.parseInt(bytes.toString('latin1', at + digits, at + digits + 2), 16);
    if (characters.has(code))
      parts.push({ begin: Math.max(0, at - reach), end: Math.min(bytes.length, at + reach) });
  };
  for (let at = bytes.indexOf('\\u00'); at >= 0; at = bytes.indexOf('\\u00', at + 4)) add(at, 4);
  for (let at = bytes.indexOf(PERCENT); at >= 0; at = bytes.indexOf(PERCENT, at + 1)) add(at, 1);
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

/** Decodes the escapes in a part of bytes. Any other byte stands for itself. */
export function decode(bytes: Buffer, { begin, end }: Span): Decoded {
  const text = bytes.toString('latin1', begin, end);
  const decoded = Buffer.alloc(text.length);
  const places: number[] = [];
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    ESCAPED.lastIndex = at;
    const found = code === BACKSLASH || code === PERCENT ? ESCAPED.exec(text) : null;
    const [whole = ' ', ofJson, ofAddress, itself] = found ?? [];
    const hex = ofJson ?? ofAddress;
    decoded[places.length] = hex === undefined ? (itself?.charCodeAt(0) ?? code) : Number.parseInt(hex, 16);
    places.push(begin + at);
    at += whole.length;
  }
  const length = places.length;
  return { bytes: decoded.subarray(0, length), places: [...places, end] };
}
