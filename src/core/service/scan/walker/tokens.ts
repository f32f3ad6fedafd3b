/** The tokens of JSON, and values that are passed over without noting anything. Each step returns what `walk.ts` says. */

import * as Kind from '../../contract/kinds.js';
import type { ScanMemory } from './memory.js';
import type { ShapeNode } from './shape-tree.js';

/** What a step returns in place of an offset: the bytes end within it, the grammar is broken, or brackets are nested too deeply. */
export const NEED_MORE = -1;
export const BROKEN = -2;
export const TOO_DEEP = -3;

/** Most brackets that may be open in a value whose inside is not described. */
const MOST_DEPTH = 15360;

/** A byte that does not belong at `p`, unless the bytes end there. */
export function stuck(memory: ScanMemory, p: number, expected: string): number {
  return p >= memory.end ? NEED_MORE : broken(memory, p, expected);
}

function broken(memory: ScanMemory, p: number, reason: string): number {
  memory.faultAt = p;
  memory.fault = reason;
  return BROKEN;
}

/** First offset at or after `p` that is not white space. */
export function space(memory: ScanMemory, p: number): number {
  return (memory.bytes[p] as number) > 0x20 ? p : spaces(memory, p);
}

function spaces(memory: ScanMemory, p: number): number {
  const { bytes } = memory;
  let q = p;
  for (;;) {
    const c = bytes[q];
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break;
    q++;
  }
  if (q !== p) memory.spaced = true;
  return q;
}

export const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39;

/** Scans a text whose opening quote stands before `start`. Returns the offset behind its closing quote. */
export function text(memory: ScanMemory, start: number): number {
  let p = plain(memory.view, start);
  while (memory.bytes[p] !== 0x22) {
    p =
      memory.bytes[p] === 0x5c
        ? escaped(memory, p)
        : stuck(memory, p, 'expected no control character inside a text');
    if (p < 0) return p;
    p = plain(memory.view, p);
  }
  return p + 1;
}

/** The first offset at or after `start` whose byte does not stand for itself in a text. Looks at four bytes at a time. */
function plain(view: DataView, start: number): number {
  for (let p = start; ; p += 4) {
    const special = specialIn(view.getInt32(p, true));
    // Only the lowest bit counts: a borrow may have set bits above it.
    if (special !== 0) return p + ((31 - Math.clz32(special & -special)) >> 3);
  }
}

/** The highest bit of the first of four bytes that is a quote, a backslash or a control character, and maybe bits above. */
function specialIn(word: number): number {
  // With this bit turned over, the quote stands right behind the control characters, and nothing else comes there.
  const turned = word ^ 0x02020202;
  const slash = word ^ 0x5c5c5c5c;
  return (((turned - 0x21212121) & ~turned) | ((slash - 0x01010101) & ~slash)) & 0x80808080;
}

/** The offset behind the escape at `p`, or behind both halves of a surrogate pair. */
function escaped(memory: ScanMemory, p: number): number {
  const c = memory.bytes[p + 1];
  if (c === 0x75) return unicode(memory, p);
  if (c === 0x22 || c === 0x5c || c === 0x2f || c === 0x62 || c === 0x66) return p + 2;
  if (c === 0x6e || c === 0x72 || c === 0x74) return p + 2;
  return stuck(memory, p + 1, 'expected an escape');
}

const HEX_DIGIT = 'expected a hex digit';

function unicode(memory: ScanMemory, start: number): number {
  const { bytes, end } = memory;
  const unit = codeUnit(bytes, start);
  if (unit < 0) return stuck(memory, -unit, HEX_DIGIT);
  const p = start + 6;
  if (unit < 0xd800 || unit > 0xdfff) return p;
  if (unit < 0xdc00) {
    if (p >= end || (bytes[p] === 0x5c && p + 1 >= end)) return NEED_MORE;
    if (bytes[p] === 0x5c && bytes[p + 1] === 0x75) {
      const low = codeUnit(bytes, p);
      if (low < 0) return stuck(memory, -low, HEX_DIGIT);
      if (low >= 0xdc00 && low <= 0xdfff) return p + 6;
    }
  }
  memory.irregular = true;
  return p;
}

/** The code unit of the escape `\\uXXXX` at `p`, or the negative offset of the first byte that is not a hex digit. */
function codeUnit(bytes: Buffer, p: number): number {
  let unit = 0;
  for (let i = p + 2; i < p + 6; i++) {
    const c = bytes[i] as number;
    const letter = (c | 0x20) - 0x61;
    if (isDigit(c)) unit = unit * 16 + (c - 0x30);
    else if (letter >= 0 && letter < 6) unit = unit * 16 + letter + 10;
    else return -i;
  }
  return unit;
}

/** First offset at or after `start` that is not a digit. */
export function digits(bytes: Buffer, start: number): number {
  let p = start;
  while (isDigit(bytes[p] as number)) p++;
  return p;
}

/** Scans a number, noted at `node` if there is one. */
export function number(memory: ScanMemory, start: number, node: ShapeNode | undefined): number {
  const { bytes } = memory;
  const first = bytes[start] === 0x2d ? start + 1 : start;
  let p = digits(bytes, first);
  const whole = p - first;
  if (whole === 0) return isBare(bytes[p]) ? bare(memory, p, node) : stuck(memory, p, 'expected a digit');
  if (whole > 1 && bytes[first] === 0x30) return broken(memory, first, 'a number with a leading zero');
  // A number of more than some 300 digits does not fit into a double.
  let kind = whole <= 15 ? Kind.INTEGER : whole <= 300 ? Kind.LONG_INTEGER : Kind.EXPONENT;
  if (bytes[p] === 0x2e) {
    if (whole <= 300) kind = Kind.REAL;
    const fraction = p + 1;
    p = digits(bytes, fraction);
    if (p === fraction) return stuck(memory, p, 'expected a digit');
  }
  if (bytes[p] === 0x65 || bytes[p] === 0x45) {
    kind = Kind.EXPONENT;
    const sign = bytes[p + 1];
    const power = sign === 0x2b || sign === 0x2d ? p + 2 : p + 1;
    p = digits(bytes, power);
    if (p === power) return stuck(memory, p, 'expected a digit');
  }
  if (p >= memory.end) return NEED_MORE;
  if (node !== undefined) node.kinds |= kind;
  return p;
}

/** Whether a byte begins one of the words that some writers put in place of a number: NaN and Infinity. */
export const isBare = (c: number | undefined): boolean => c === 0x4e || c === 0x49;

const NAN = Buffer.from('NaN');
const INFINITY = Buffer.from('Infinity');

/** Scans NaN or Infinity, behind its sign if it has one, noted at `node` if there is one. */
export function bare(memory: ScanMemory, start: number, node: ShapeNode | undefined): number {
  const letters = memory.bytes[start] === 0x49 ? INFINITY : NAN;
  const p = behind(memory, start, letters);
  if (p < 0) return p;
  memory.irregular = true;
  if (node !== undefined) node.kinds |= Kind.EXPONENT;
  return p;
}

/** The offset behind these letters, if they stand at `start`. */
function behind(memory: ScanMemory, start: number, letters: Buffer): number {
  for (let i = 0; i < letters.length; i++)
    if (memory.bytes[start + i] !== letters[i]) return stuck(memory, start + i, 'expected a value');
  return start + letters.length;
}

const NULL = Buffer.from('null');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL_WORD = NULL.readInt32LE();

/** Scans null, true or false; `first` is its first letter. */
export function word(memory: ScanMemory, p: number, first: number): number {
  if (memory.view.getInt32(p, true) === NULL_WORD) return p + 4;
  return behind(memory, p, first === 0x6e ? NULL : first === 0x74 ? TRUE : FALSE);
}

/** Open brackets of a value whose inside is not described, one byte each. No value has two at a time. */
const stack = Buffer.alloc(MOST_DEPTH);

/** Scans one value at `p` without noting anything. Keeps the open brackets by itself, so that no depth harms it. */
export function skip(memory: ScanMemory, start: number): number {
  const { bytes } = memory;
  let p = start;
  let depth = 0;
  for (;;) {
    const c = bytes[p] as number;
    if (c === 0x7b || c === 0x5b) {
      p = space(memory, p + 1);
      if (bytes[p] === c + 2) p++;
      else {
        if (depth === MOST_DEPTH) return TOO_DEEP;
        stack[depth++] = c;
        if (c === 0x7b) p = name(memory, p);
        if (p < 0) return p;
        continue;
      }
    } else p = leaf(memory, p, c);
    // Behind a value: what ends here, and where the next one begins.
    for (;;) {
      if (p < 0 || depth === 0) return p;
      const open = stack[depth - 1] as number;
      p = space(memory, p);
      const d = bytes[p];
      if (d === 0x2c) {
        p = space(memory, p + 1);
        if (open === 0x7b) p = name(memory, p);
        if (p < 0) return p;
        break;
      }
      if (d !== open + 2) return stuck(memory, p, open === 0x7b ? COMMA_OR_BRACE : COMMA_OR_BRACKET);
      depth--;
      p++;
    }
  }
}

export const COMMA_OR_BRACE = 'expected a comma or a closing brace';
export const COMMA_OR_BRACKET = 'expected a comma or a closing bracket';

/** A member name with its colon and the space behind it. */
export function name(memory: ScanMemory, start: number): number {
  if (memory.bytes[start] !== 0x22) return stuck(memory, start, 'expected a member name');
  let p = text(memory, start + 1);
  if (p < 0) return p;
  p = space(memory, p);
  return memory.bytes[p] === 0x3a ? space(memory, p + 1) : stuck(memory, p, 'expected a colon');
}

function leaf(memory: ScanMemory, p: number, c: number): number {
  if (c === 0x22) return text(memory, p + 1);
  if (isBare(c)) return bare(memory, p, undefined);
  return c === 0x2d || isDigit(c) ? number(memory, p, undefined) : word(memory, p, c);
}
