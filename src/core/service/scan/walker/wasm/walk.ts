/**
 * Walks JSON values in linear memory, checks their grammar and notes which kinds stand at which place. Written in
 * AssemblyScript, a dialect of TypeScript that is compiled to WebAssembly: `asc` reads it, `tsc` does not.
 *
 * The memory must hold a zero byte at `END` and be readable for 64 bytes more. That byte fits nowhere in JSON, so that
 * one comparison serves as the bounds check, and lanes of 16 bytes may reach past the end without harm.
 *
 * Each step takes the offset where it starts and returns the one behind what it read, or a negative number: NEED_MORE
 * if the bytes end within it, BROKEN if the grammar is broken, TOO_DEEP if brackets are nested too deeply.
 */

import * as Kind from '../../../contract/kinds';
import * as at from '../layout';
import { bare, digits, isBare, isDigit, note, number, skip, space, stuck, text, word } from './tokens';

export { name, skip, space } from './tokens';

/** The member of the object `parent` whose quoted name stands from `from` to `to`. */
declare function member(parent: i32, from: i32, to: i32): i32;
/** The kind of the text from `from` to `to` where a timestamp belongs. */
declare function timestampKind(from: i32, to: i32): i32;

/** Flags of a key that is a whole number. */
const NUMERIC_KEY = at.LEXICAL_NUMBER | at.REQUIRED;

export function value(p: i32, node: i32): i32 {
  const c = load<u8>(p);
  const flags = load<i32>(node, at.FLAGS);
  if ((flags & at.OPAQUE) !== 0) return opaque(p, node, c);
  if (c === 0x22) return textValue(p + 1, node, flags);
  if (c === 0x7b) return object(p + 1, node);
  if (c === 0x5b) return array(p + 1, node);
  if (c === 0x2d || isDigit(c)) {
    const q = number(p, node);
    if (q < 0) return q;
    noteKey(p, node, flags);
    if ((flags & at.ID) !== 0) noteId(p, q);
    return q;
  }
  if (isBare(c)) return bare(p, node);
  const q = word(p, c);
  if (q >= 0) note(node, c === 0x6e ? Kind.NULL : Kind.BOOLEAN);
  return q;
}

/** Notes whether the number at `p`, a token or the content of a text, is a key below zero. */
function noteKey(p: i32, node: i32, flags: i32): void {
  const isNumericKey = (flags & NUMERIC_KEY) === NUMERIC_KEY;
  if (isNumericKey && load<u8>(p) === 0x2d && load<u8>(p + 1) !== 0x30) note(node, Kind.NEGATIVE_KEY);
}

function noteId(from: i32, to: i32): void {
  store<i32>(at.ID_START, from);
  store<i32>(at.ID_END, to);
}

function opaque(p: i32, node: i32, c: u8): i32 {
  const q = skip(p);
  if (q < 0) return q;
  if (load<i32>(node, at.FIRST_RECORD) < 0) store<i32>(node, load<i32>(at.RECORD), at.FIRST_RECORD);
  note(node, kindOf(c));
  return q;
}

function kindOf(first: u8): i32 {
  if (first === 0x22) return Kind.TEXT;
  if (first === 0x7b) return Kind.OBJECT;
  if (first === 0x5b) return Kind.ARRAY;
  if (first === 0x6e) return Kind.NULL;
  return first === 0x2d || isDigit(first) || isBare(first) ? Kind.REAL : Kind.BOOLEAN;
}

function textValue(p: i32, node: i32, flags: i32): i32 {
  if ((flags & at.LEXICAL_TIMESTAMP) !== 0) {
    const length = plainTimestamp(p);
    if (length > 0 && load<u8>(p + length) === 0x22) {
      note(node, Kind.TIMESTAMP_TEXT);
      return p + length + 1;
    }
  }
  const q = text(p);
  if (q < 0) return q;
  note(node, flags === 0 ? Kind.TEXT : textKind(p, q - 1, flags));
  noteKey(p, node, flags);
  if ((flags & at.ID) !== 0) noteId(p, q - 1);
  return q;
}

function textKind(p: i32, end: i32, flags: i32): i32 {
  if ((flags & at.LEXICAL_NUMBER) !== 0) return numericKind(p, end);
  return (flags & at.LEXICAL_TIMESTAMP) !== 0 ? timestampKind(p, end) : Kind.TEXT;
}

/** The kind of the text from `start` to `end`: a number or any text. Digits stop at the quote at the latest. */
function numericKind(start: i32, end: i32): i32 {
  const first = load<u8>(start) === 0x2d ? start + 1 : start;
  const p = digits(first);
  if (p === first || p - first > 15 || (load<u8>(first) === 0x30 && p > first + 1)) return Kind.TEXT;
  if (p === end) return Kind.INTEGER_TEXT;
  if (load<u8>(p) !== 0x2e || p + 1 === end) return Kind.TEXT;
  return digits(p + 1) === end ? Kind.REAL_TEXT : Kind.TEXT;
}

function object(start: i32, node: i32): i32 {
  note(node, Kind.OBJECT);
  const stamp = load<i32>(at.OBJECTS) + 1;
  store<i32>(at.OBJECTS, stamp);
  let p = space(start);
  let required = 0;
  if (load<u8>(p) === 0x7d) p++;
  else {
    let before = 0;
    // The slot holds the member that stood here last time.
    let slot = node + at.LEADER;
    while (true) {
      if (load<u8>(p) !== 0x22) return stuck(p, at.MEMBER_NAME);
      let found = load<i32>(slot);
      if (found === 0 || !matches(p, found)) found = sibling(p, node, before);
      if (found !== 0) p += load<i32>(found, at.KEY_LENGTH);
      else {
        const q = text(p + 1);
        if (q < 0) return q;
        found = member(node, p, q);
        p = q;
      }
      store<i32>(slot, found);
      slot = found + at.FOLLOWER;
      p = space(p);
      if (load<u8>(p) !== 0x3a) return stuck(p, at.COLON);
      p = value(space(p + 1), found);
      if (p < 0) return p;
      if ((load<i32>(found, at.FLAGS) & at.REQUIRED) !== 0) required++;
      if (load<i32>(found, at.STAMP) === stamp) store<i32>(at.IRREGULAR, 1);
      store<i32>(found, stamp, at.STAMP);
      before = found;
      p = space(p);
      const c = load<u8>(p);
      if (c === 0x2c) p = space(p + 1);
      else if (c === 0x7d) {
        p++;
        break;
      } else return stuck(p, at.COMMA_OR_BRACE);
    }
  }
  if (required < load<i32>(node, at.REQUIRED_MEMBERS)) note(node, Kind.MISSING);
  return p;
}

/** Whether the quoted name at `p` is the key of `node`. */
function matches(p: i32, node: i32): bool {
  const mask = load<i32>(node, at.KEY_MASK);
  const low = i8x16.bitmask(i8x16.eq(v128.load(p), v128.load(node, at.KEY)));
  const high = i8x16.bitmask(i8x16.eq(v128.load(p, 16), v128.load(node, at.KEY + 16)));
  return ((low | (high << 16)) & mask) === mask;
}

/** The member of the contract whose name stands at `p`, or zero. The search begins behind `before`. */
function sibling(p: i32, node: i32, before: i32): i32 {
  const behind = before === 0 ? 0 : load<i32>(before, at.SIBLING);
  const first = behind === 0 ? load<i32>(node, at.FIRST_MEMBER) : behind;
  if (first === 0) return 0;
  let candidate = first;
  do {
    if (matches(p, candidate)) return candidate;
    candidate = load<i32>(candidate, at.SIBLING);
  } while (candidate !== first);
  return 0;
}

function array(start: i32, node: i32): i32 {
  note(node, Kind.ARRAY);
  const element = load<i32>(node, at.ELEMENT);
  let p = space(start);
  if (load<u8>(p) === 0x5d) return p + 1;
  while (true) {
    p = element === 0 ? skip(p) : value(p, element);
    if (p < 0) return p;
    p = space(p);
    const c = load<u8>(p);
    if (c === 0x2c) p = space(p + 1);
    else if (c === 0x5d) return p + 1;
    else return stuck(p, at.COMMA_OR_BRACKET);
  }
}

/**
 * Length of the timestamp at `p` if it has one of the forms that nearly every one has: date and time to the second,
 * with nothing behind, with microseconds and Z, or with a zone in hours and minutes. Zero for everything else, and in the
 * first and the last century, where a zone may lead out of the years that can be kept.
 */
function plainTimestamp(p: i32): i32 {
  // The least byte at each place of `0000-00-00 00:00`, and how far above it a byte may be.
  const lowest = i8x16(48, 48, 48, 48, 45, 48, 48, 45, 48, 48, 32, 48, 48, 58, 48, 48);
  const range = i8x16(9, 9, 9, 9, 0, 1, 9, 0, 3, 9, 52, 2, 9, 0, 5, 9);
  if (!i8x16.all_true(i8x16.le_u(i8x16.sub(v128.load(p), lowest), range))) return 0;
  const joint = load<u8>(p + 10);
  if (joint !== 0x54 && joint !== 0x20) return 0;
  if (two(p) === 0 || two(p) === 99 || two(p + 11) > 23 || !isDay(two(p + 5), two(p + 8))) return 0;
  // The same for `00:00:00.000000Z`, which begins with the hour again.
  const lowestBehind = i8x16(48, 48, 58, 48, 48, 58, 48, 48, 46, 48, 48, 48, 48, 48, 48, 90);
  const rangeBehind = i8x16(9, 9, 0, 9, 9, 0, 5, 9, 0, 9, 9, 9, 9, 9, 9, 0);
  const behind = i8x16.le_u(i8x16.sub(v128.load(p, 11), lowestBehind), rangeBehind);
  const fits = i8x16.bitmask(behind);
  if (fits === 0xffff) return 27;
  if ((fits & 0xff) !== 0xff) return 0;
  if (load<u8>(p + 19) === 0x22) return 19;
  return isZone(p + 19) ? 25 : 0;
}

/** Whether a zone such as `+09:00` stands at `p`. */
function isZone(p: i32): bool {
  const sign = load<u8>(p);
  if (sign !== 0x2b && sign !== 0x2d) return false;
  const tens = load<u8>(p + 1);
  const ones = load<u8>(p + 2);
  const isHour = tens === 0x30 ? isDigit(ones) : tens === 0x31 && ones >= 0x30 && ones <= 0x34;
  const minutes = load<u8>(p + 4);
  return isHour && load<u8>(p + 3) === 0x3a && minutes >= 0x30 && minutes <= 0x35 && isDigit(load<u8>(p + 5));
}

/** Whether a month has such a day in every year. */
function isDay(month: u32, day: u32): bool {
  if (month - 1 > 11 || day === 0) return false;
  if (day <= 28) return true;
  return month !== 2 && (day <= 30 || (day === 31 && ((LONG_MONTHS >> month) & 1) !== 0));
}

/** One bit for each month of 31 days. */
const LONG_MONTHS: u32 = 0b1_0101_1010_1010;

/** The number of two digits. */
function two(p: i32): u32 {
  return <u32>load<u8>(p) * 10 + <u32>load<u8>(p + 1) - 528;
}
