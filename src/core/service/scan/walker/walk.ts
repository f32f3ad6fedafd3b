/**
 * Walks JSON values, checks their grammar and notes which kinds stand at which place. A zero byte stands behind the last
 * byte: it fits nowhere in JSON, so that one comparison serves as the bounds check, and steps of some bytes may reach past
 * the end without harm.
 *
 * Each step takes the offset where it starts and returns the one behind what it read, or a negative number: NEED_MORE
 * if the bytes end within it, BROKEN if the grammar is broken, TOO_DEEP if brackets are nested too deeply.
 */

import { isTimestamp, isYearOrMonth } from '../../contract/field.js';
import * as Kind from '../../contract/kinds.js';
import type { ScanMemory } from './memory.js';
import {
  ID,
  LEXICAL_NUMBER,
  LEXICAL_TIMESTAMP,
  OPAQUE,
  REQUIRED,
  type ShapeNode,
  type ShapeTree,
} from './shape-tree.js';
import {
  bare,
  COMMA_OR_BRACE,
  COMMA_OR_BRACKET,
  digits,
  isBare,
  isDigit,
  number,
  skip,
  space,
  stuck,
  text,
  word,
} from './tokens.js';

/** Flags of a key that is a whole number. */
const NUMERIC_KEY = LEXICAL_NUMBER | REQUIRED;

export function value(memory: ScanMemory, p: number, node: ShapeNode, tree: ShapeTree): number {
  const c = memory.bytes[p] as number;
  const { flags } = node;
  if ((flags & OPAQUE) !== 0) return opaque(memory, p, node, c);
  if (c === 0x22) return textValue(memory, p + 1, node, flags);
  if (c === 0x7b) return object(memory, p + 1, node, tree);
  if (c === 0x5b) return array(memory, p + 1, node, tree);
  if (c === 0x2d || isDigit(c)) {
    const q = number(memory, p, node);
    if (q >= 0 && flags !== 0) noteKey(memory, p, q, node);
    return q;
  }
  if (isBare(c)) return bare(memory, p, node);
  const q = word(memory, p, c);
  if (q >= 0) node.kinds |= c === 0x6e ? Kind.NULL : Kind.BOOLEAN;
  return q;
}

/** Notes what the number from `p` to `end`, a token or the content of a text, says as a key or as the id of the record. */
function noteKey(memory: ScanMemory, p: number, end: number, node: ShapeNode): void {
  const isNumericKey = (node.flags & NUMERIC_KEY) === NUMERIC_KEY;
  if (isNumericKey && memory.bytes[p] === 0x2d && memory.bytes[p + 1] !== 0x30)
    node.kinds |= Kind.NEGATIVE_KEY;
  if ((node.flags & ID) === 0) return;
  memory.idStart = p;
  memory.idEnd = end;
}

function opaque(memory: ScanMemory, p: number, node: ShapeNode, c: number): number {
  const q = skip(memory, p);
  if (q < 0) return q;
  if (node.firstRecord < 0) node.firstRecord = memory.record;
  node.kinds |= kindOf(c);
  return q;
}

function kindOf(first: number): number {
  if (first === 0x22) return Kind.TEXT;
  if (first === 0x7b) return Kind.OBJECT;
  if (first === 0x5b) return Kind.ARRAY;
  if (first === 0x6e) return Kind.NULL;
  return first === 0x2d || isDigit(first) || isBare(first) ? Kind.REAL : Kind.BOOLEAN;
}

function textValue(memory: ScanMemory, p: number, node: ShapeNode, flags: number): number {
  if ((flags & LEXICAL_TIMESTAMP) !== 0) {
    const length = plainTimestamp(memory, p);
    if (length > 0 && memory.bytes[p + length] === 0x22) {
      node.kinds |= Kind.TIMESTAMP_TEXT;
      return p + length + 1;
    }
  }
  const q = text(memory, p);
  if (q < 0) return q;
  if (flags === 0) node.kinds |= Kind.TEXT;
  else {
    node.kinds |= textKind(memory.bytes, p, q - 1, flags);
    noteKey(memory, p, q - 1, node);
  }
  return q;
}

function textKind(bytes: Buffer, p: number, end: number, flags: number): number {
  if ((flags & LEXICAL_NUMBER) !== 0) return numericKind(bytes, p, end);
  return (flags & LEXICAL_TIMESTAMP) !== 0 ? timestampKind(bytes.toString('latin1', p, end)) : Kind.TEXT;
}

function timestampKind(content: string): number {
  if (isTimestamp(content)) return Kind.TIMESTAMP_TEXT;
  return isYearOrMonth(content) ? Kind.YEAR_OR_MONTH_TEXT : Kind.TEXT;
}

/** The kind of the text from `start` to `end`: a number or any text. Digits stop at the quote at the latest. */
function numericKind(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start] === 0x2d ? start + 1 : start;
  const p = digits(bytes, first);
  if (p === first || p - first > 15 || (bytes[first] === 0x30 && p > first + 1)) return Kind.TEXT;
  if (p === end) return Kind.INTEGER_TEXT;
  if (bytes[p] !== 0x2e || p + 1 === end) return Kind.TEXT;
  return digits(bytes, p + 1) === end ? Kind.REAL_TEXT : Kind.TEXT;
}

function object(memory: ScanMemory, start: number, node: ShapeNode, tree: ShapeTree): number {
  const { bytes, view } = memory;
  node.kinds |= Kind.OBJECT;
  const stamp = ++memory.objects;
  let required = 0;
  let p = space(memory, start);
  if (bytes[p] === 0x7d) p++;
  else {
    let before: ShapeNode | undefined;
    for (;;) {
      let found = before === undefined ? node.leader : before.follower;
      if (found !== undefined && hasKey(view, p, found)) p = space(memory, p + found.keyLength);
      else {
        p = member(memory, p, node, before, tree);
        if (p < 0) return p;
        found = memory.member as ShapeNode;
      }
      p = value(memory, p, found, tree);
      if (p < 0) return p;
      if ((found.flags & REQUIRED) !== 0) required++;
      if (found.stamp === stamp) memory.irregular = true;
      found.stamp = stamp;
      before = found;
      p = space(memory, p);
      const c = bytes[p];
      if (c === 0x2c) p = space(memory, p + 1);
      else if (c === 0x7d) {
        p++;
        break;
      } else return stuck(memory, p, COMMA_OR_BRACE);
    }
  }
  if (required < node.requiredMembers) node.kinds |= Kind.MISSING;
  return p;
}

/** Whether the key of `node` stands at `p`. */
function hasKey(view: DataView, p: number, node: ShapeNode): boolean {
  const { keyLength } = node;
  if (view.getInt32(p, true) !== node.keyHead || keyLength === 0) return false;
  if (view.getInt32(p + keyLength - 4, true) !== node.keyTail) return false;
  const { key } = node;
  for (let i = 1; i < key.length - 1; i++) if (view.getInt32(p + i * 4, true) !== key[i]) return false;
  return true;
}

/** Finds the member whose name stands at `p` and notes it as the follower of the one before. Returns the offset of its value. */
function member(
  memory: ScanMemory,
  p: number,
  node: ShapeNode,
  before: ShapeNode | undefined,
  tree: ShapeTree,
): number {
  if (memory.bytes[p] !== 0x22) return stuck(memory, p, 'expected a member name');
  let found = sibling(memory.view, p, node, before);
  let q = p + (found?.keyLength ?? 0);
  if (found === undefined) {
    const end = text(memory, p + 1);
    if (end < 0) return end;
    found = tree.member(node, JSON.parse(memory.bytes.toString('utf8', p, end)));
    const colon = space(memory, end);
    if (memory.bytes[colon] !== 0x3a) return stuck(memory, colon, 'expected a colon');
    q = colon + 1;
  }
  if (before === undefined) node.leader = found;
  else before.follower = found;
  memory.member = found;
  return space(memory, q);
}

/** The member of the contract whose key stands at `p`. The search begins behind `before`. */
function sibling(
  view: DataView,
  p: number,
  node: ShapeNode,
  before: ShapeNode | undefined,
): ShapeNode | undefined {
  const first = before?.sibling ?? node.firstMember;
  let candidate = first;
  while (candidate !== undefined) {
    if (hasKey(view, p, candidate)) return candidate;
    candidate = candidate.sibling;
    if (candidate === first) return undefined;
  }
  return undefined;
}

function array(memory: ScanMemory, start: number, node: ShapeNode, tree: ShapeTree): number {
  const { bytes } = memory;
  const { element } = node;
  node.kinds |= Kind.ARRAY;
  let p = space(memory, start);
  if (bytes[p] === 0x5d) return p + 1;
  for (;;) {
    p = element === undefined ? skip(memory, p) : value(memory, p, element, tree);
    if (p < 0) return p;
    p = space(memory, p);
    const c = bytes[p];
    if (c === 0x2c) p = space(memory, p + 1);
    else if (c === 0x5d) return p + 1;
    else return stuck(memory, p, COMMA_OR_BRACKET);
  }
}

/**
 * Length of the timestamp at `p` if it has one of the forms that nearly every one has: date and time to the second,
 * with nothing behind, with microseconds and Z, or with a zone in hours and minutes. Zero for everything else, and in the
 * first and the last century, where a zone may lead out of the years that can be kept.
 */
function plainTimestamp({ bytes, view }: ScanMemory, p: number): number {
  // `2026`, `-09-`, `09T1`, `9:44`, `:38.`: the digits, and what stands between them.
  const month = view.getInt32(p + 4, true);
  const hour = view.getInt32(p + 10, true);
  const seconds = view.getInt32(p + 16, true);
  if (!areDigits(view.getInt32(p, true))) return 0;
  if ((month & 0xff0000ff) !== 0x2d00002d) return 0;
  if ((seconds & 0xff) !== 0x3a || bytes[p + 13] !== 0x3a) return 0;
  const joint = hour & 0xff;
  if (joint !== 0x54 && joint !== 0x20) return 0;
  const [century, months, days] = [two(bytes, p), two(bytes, p + 5), two(bytes, p + 8)];
  if (century === 0 || century === 99 || !isDay(months, days)) return 0;
  if (!(two(bytes, p + 11) <= 23 && two(bytes, p + 14) <= 59 && two(bytes, p + 17) <= 59)) return 0;
  const next = bytes[p + 19];
  if (next === 0x22) return 19;
  if (next === 0x2e) {
    const isZulu = bytes[p + 26] === 0x5a;
    return isZulu && areDigits(view.getInt32(p + 20, true)) && areDigits(view.getInt32(p + 22, true))
      ? 27
      : 0;
  }
  return isZone(bytes, p + 19) ? 25 : 0;
}

/** Whether four bytes are digits. */
function areDigits(word: number): boolean {
  return (word & 0xf0f0f0f0) === 0x30303030 && ((word + 0x06060606) & 0xf0f0f0f0) === 0x30303030;
}

/** Whether a zone such as `+09:00` stands at `p`. */
function isZone(bytes: Buffer, p: number): boolean {
  const sign = bytes[p];
  if (sign !== 0x2b && sign !== 0x2d) return false;
  return two(bytes, p + 1) <= 14 && bytes[p + 3] === 0x3a && two(bytes, p + 4) <= 59;
}

/** Whether a month has such a day in every year. */
function isDay(month: number, day: number): boolean {
  if (month < 1 || month > 12 || day === 0) return false;
  if (day <= 28) return true;
  return month !== 2 && (day <= 30 || (day === 31 && ((LONG_MONTHS >> month) & 1) !== 0));
}

/** One bit for each month of 31 days. */
const LONG_MONTHS = 0b1_0101_1010_1010;

/** The number of two digits; 1000 if they are none. */
function two(bytes: Buffer, p: number): number {
  const tens = bytes[p] as number;
  const ones = bytes[p + 1] as number;
  return isDigit(tens) && isDigit(ones) ? tens * 10 + ones - 528 : 1000;
}
