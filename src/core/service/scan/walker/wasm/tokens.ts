/** The tokens of JSON, and values that are passed over without noting anything. Each step returns what `walk.ts` says. */

import * as Kind from '../../../contract/kinds';
import * as at from '../layout';

export function stuck(p: i32, expected: i32): i32 {
  return p >= load<i32>(at.END) ? at.NEED_MORE : broken(p, expected);
}

function broken(p: i32, reason: i32): i32 {
  store<i32>(at.FAULT_AT, p);
  store<i32>(at.FAULT, reason);
  return at.BROKEN;
}

export function note(node: i32, kinds: i32): void {
  store<i32>(node, load<i32>(node, at.KINDS) | kinds, at.KINDS);
}

/** First offset at or after `p` that is not white space. */
export function space(p: i32): i32 {
  return load<u8>(p) > 0x20 ? p : spaces(p);
}

function spaces(p: i32): i32 {
  let q = p;
  while (true) {
    const c = load<u8>(q);
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break;
    q++;
  }
  if (q !== p) store<i32>(at.SPACED, 1);
  return q;
}

export function isDigit(c: u8): bool {
  return c >= 0x30 && c <= 0x39;
}

/** Scans a text whose opening quote stands before `start`. Returns the offset behind its closing quote. */
export function text(start: i32): i32 {
  let p = plain(start);
  while (load<u8>(p) !== 0x22) {
    p = load<u8>(p) === 0x5c ? escaped(p) : stuck(p, at.NO_CONTROL);
    if (p < 0) return p;
    p = plain(p);
  }
  return p + 1;
}

/** The first offset at or after `start` whose byte does not stand for itself in a text. */
function plain(start: i32): i32 {
  // Most texts end within one lane, and most others are long.
  const first = special(start);
  if (first !== 0) return start + ctz(first);
  let p = start + 16;
  while (true) {
    const found = special(p) | (special(p + 16) << 16);
    if (found !== 0) return p + ctz(found);
    p += 32;
  }
}

/** One bit for each of the 16 bytes at `p` that is a quote, a backslash or a control character. */
function special(p: i32): i32 {
  const lane = v128.load(p);
  // With this bit turned over, the quote stands right behind the control characters, and nothing else comes there.
  const turned = v128.xor(lane, i8x16.splat(0x02));
  const isLow = i8x16.le_u(turned, i8x16.splat(0x20));
  return i8x16.bitmask(v128.or(isLow, i8x16.eq(lane, i8x16.splat(0x5c))));
}

/** The offset behind the escape at `p`, or behind both halves of a surrogate pair. */
function escaped(p: i32): i32 {
  const c = load<u8>(p + 1);
  if (c === 0x75) return unicode(p);
  if (c === 0x22 || c === 0x5c || c === 0x2f || c === 0x62 || c === 0x66) return p + 2;
  if (c === 0x6e || c === 0x72 || c === 0x74) return p + 2;
  return stuck(p + 1, at.ESCAPE);
}

function unicode(start: i32): i32 {
  const unit = codeUnit(start);
  if (unit < 0) return stuck(-unit, at.HEX_DIGIT);
  const p = start + 6;
  if (unit < 0xd800 || unit > 0xdfff) return p;
  if (unit < 0xdc00) {
    const end = load<i32>(at.END);
    if (p >= end || (load<u8>(p) === 0x5c && p + 1 >= end)) return at.NEED_MORE;
    if (load<u8>(p) === 0x5c && load<u8>(p + 1) === 0x75) {
      const low = codeUnit(p);
      if (low < 0) return stuck(-low, at.HEX_DIGIT);
      if (low >= 0xdc00 && low <= 0xdfff) return p + 6;
    }
  }
  store<i32>(at.IRREGULAR, 1);
  return p;
}

/** The code unit of the escape `\\uXXXX` at `p`, or the negative offset of the first byte that is not a hex digit. */
function codeUnit(p: i32): i32 {
  let unit = 0;
  for (let i = p + 2; i < p + 6; i++) {
    const c = load<u8>(i);
    const letter = (c | 0x20) - 0x61;
    if (isDigit(c)) unit = unit * 16 + (c - 0x30);
    else if (letter < 6) unit = unit * 16 + letter + 10;
    else return -i;
  }
  return unit;
}

/** First offset at or after `start` that is not a digit. */
export function digits(start: i32): i32 {
  let p = start;
  while (true) {
    const lane = i8x16.sub(v128.load(p), i8x16.splat(0x30));
    const isOther = ~i8x16.bitmask(i8x16.le_u(lane, i8x16.splat(9))) & 0xffff;
    if (isOther !== 0) return p + ctz(isOther);
    p += 16;
  }
}

/** Scans a number, noted at `node` unless that is zero. */
export function number(start: i32, node: i32): i32 {
  const first = load<u8>(start) === 0x2d ? start + 1 : start;
  let p = digits(first);
  if (p === first) return isBare(load<u8>(p)) ? bare(p, node) : stuck(p, at.DIGIT);
  const whole = p - first;
  if (whole > 1 && load<u8>(first) === 0x30) return broken(first, at.LEADING_ZERO);
  // A number of more than some 300 digits does not fit into a double.
  let kind = whole <= 15 ? Kind.INTEGER : whole <= 300 ? Kind.LONG_INTEGER : Kind.EXPONENT;
  if (load<u8>(p) === 0x2e) {
    if (whole <= 300) kind = Kind.REAL;
    const fraction = p + 1;
    p = digits(fraction);
    if (p === fraction) return stuck(p, at.DIGIT);
  }
  if ((load<u8>(p) | 0x20) === 0x65) {
    kind = Kind.EXPONENT;
    const sign = load<u8>(p + 1);
    const power = sign === 0x2b || sign === 0x2d ? p + 2 : p + 1;
    p = digits(power);
    if (p === power) return stuck(p, at.DIGIT);
  }
  if (p >= load<i32>(at.END)) return at.NEED_MORE;
  if (node !== 0) note(node, kind);
  return p;
}

/** Whether a byte begins one of the words that some writers put in place of a number: NaN and Infinity. */
export function isBare(c: u8): bool {
  return c === 0x4e || c === 0x49;
}

/** Scans NaN or Infinity, behind its sign if it has one, noted at `node` unless that is zero. */
export function bare(start: i32, node: i32): i32 {
  const isNumber = load<u8>(start) === 0x49;
  const length = isNumber ? 8 : 3;
  for (let i = 0; i < length; i++) {
    // NaN, Infi, nity.
    const letters: u32 = !isNumber ? 0x4e614e : i < 4 ? 0x69666e49 : 0x7974696e;
    if (load<u8>(start + i) !== <u8>(letters >> ((i & 3) * 8))) return stuck(start + i, at.VALUE);
  }
  store<i32>(at.IRREGULAR, 1);
  if (node !== 0) note(node, Kind.EXPONENT);
  return start + length;
}

/** Scans null, true or false; `first` is its first letter. */
export function word(p: i32, first: u8): i32 {
  const four = load<u32>(p);
  if (four === 0x6c6c756e || four === 0x65757274) return p + 4;
  if (four === 0x736c6166 && load<u8>(p + 4) === 0x65) return p + 5;
  const letters: u64 = first === 0x6e ? 0x6c6c756e : first === 0x74 ? 0x65757274 : 0x65736c6166;
  let i = 0;
  while (load<u8>(p + i) === <u8>(letters >> (i * 8))) i++;
  return stuck(p + i, at.VALUE);
}

/** Scans one value at `p` without noting anything. Keeps the open brackets by itself, so that no depth harms it. */
export function skip(start: i32): i32 {
  let p = start;
  let depth = 0;
  while (true) {
    const c = load<u8>(p);
    if (c === 0x7b || c === 0x5b) {
      p = space(p + 1);
      if (load<u8>(p) === c + 2) p++;
      else {
        if (depth === at.MOST_DEPTH) return at.TOO_DEEP;
        store<u8>(at.STACK + depth, c);
        depth++;
        if (c === 0x7b) p = name(p);
        if (p < 0) return p;
        continue;
      }
    } else p = leaf(p, c);
    // Behind a value: what ends here, and where the next one begins.
    while (true) {
      if (p < 0 || depth === 0) return p;
      const open = load<u8>(at.STACK + depth - 1);
      p = space(p);
      const d = load<u8>(p);
      if (d === 0x2c) {
        p = space(p + 1);
        if (open === 0x7b) p = name(p);
        if (p < 0) return p;
        break;
      }
      if (d !== open + 2) return stuck(p, open === 0x7b ? at.COMMA_OR_BRACE : at.COMMA_OR_BRACKET);
      depth--;
      p++;
    }
  }
}

/** A member name with its colon and the space behind it. */
export function name(start: i32): i32 {
  if (load<u8>(start) !== 0x22) return stuck(start, at.MEMBER_NAME);
  let p = text(start + 1);
  if (p < 0) return p;
  p = space(p);
  return load<u8>(p) === 0x3a ? space(p + 1) : stuck(p, at.COLON);
}

function leaf(p: i32, c: u8): i32 {
  if (c === 0x22) return text(p + 1);
  if (isBare(c)) return bare(p, 0);
  return c === 0x2d || isDigit(c) ? number(p, 0) : word(p, c);
}
