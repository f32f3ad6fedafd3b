import { isTimestamp, Kind } from '../service/contract/field.js';
import { Mark, type ShapeNode } from './shape.js';

/** What a scan step returns where the buffer ended inside the value. */
export const NEED_MORE = -1;

/** Malformed JSON, at an offset of the scanned buffer. */
export class SyntaxFault extends Error {
  constructor(
    readonly offset: number,
    readonly reason: string,
  ) {
    super(reason);
  }
}

/** Bytes that continue a text: everything but the quote, the backslash and control characters. */
const PLAIN = new Uint8Array(256).fill(1, 0x20);
PLAIN[0x22] = 0;
PLAIN[0x5c] = 0;

const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39;
const isHex = (c: number): boolean => isDigit(c) || (c >= 0x61 && c <= 0x66) || (c >= 0x41 && c <= 0x46);

/**
 * Walks JSON values in a byte buffer, checks their grammar and notes which kinds stand at which place. The buffer
 * must hold a zero byte at `end`: that byte fits nowhere in JSON, so that one comparison serves as the bounds check.
 */
export class ValueScanner {
  #bytes: Uint8Array = new Uint8Array(4);
  #words = new Int32Array(this.#bytes.buffer);
  end = 0;
  /** Position in its page of the record under way. */
  record = 0;
  /**
   * Whether something is JSON that DuckDB does not take: half of a surrogate pair, or a member that stands twice in one
   * object.
   */
  irregular = false;
  #objects = 0;
  /** Whether white space stood between tokens since this was last reset. */
  spaced = false;
  /** The member whose text is kept as the record's id, and where that text stood. */
  idNode: ShapeNode | undefined;
  idStart = -1;
  idEnd = -1;

  /** Takes the bytes to scan: they start at an offset and have a length that are multiples of four. */
  set buffer(bytes: Uint8Array) {
    if (bytes === this.#bytes) return;
    this.#bytes = bytes;
    this.#words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  }

  /** First offset at or after `p` that is not white space. */
  space(p: number): number {
    const b = this.#bytes;
    let q = p;
    for (;;) {
      const c = b[q];
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break;
      q++;
    }
    if (q !== p) this.spaced = true;
    return q;
  }

  /** Scans one value at `p` as `node`. Returns the offset behind it or NEED_MORE. */
  value(p: number, node: ShapeNode): number {
    const c = this.#bytes[p] as number;
    if (node.opaque) {
      const q = this.skip(p);
      if (q !== NEED_MORE) this.#note(node, kindOf(c));
      return q;
    }
    if (c === 0x22) {
      const q = this.text(p + 1);
      if (q === NEED_MORE) return q;
      node.kinds |= node.lexical === 0 ? Kind.text : this.#textKind(p + 1, q - 1, node.lexical);
      if (node === this.idNode) {
        this.idStart = p + 1;
        this.idEnd = q - 1;
      }
      return q;
    }
    if (c === 0x7b) return this.#object(p + 1, node);
    if (c === 0x5b) return this.#array(p + 1, node);
    if (c === 0x2d || isDigit(c)) {
      const q = this.#number(p, node);
      if (node === this.idNode && q !== NEED_MORE) {
        this.idStart = p;
        this.idEnd = q;
      }
      return q;
    }
    const q = this.#word(p, c);
    if (q !== NEED_MORE) node.kinds |= c === 0x6e ? Kind.null : Kind.boolean;
    return q;
  }

  #note(node: ShapeNode, kind: number): void {
    if (node.firstRecord < 0) node.firstRecord = this.record;
    node.kinds |= kind;
  }

  #object(start: number, node: ShapeNode): number {
    const b = this.#bytes;
    node.kinds |= Kind.object;
    let p = this.space(start);
    const stamp = ++this.#objects;
    let required = 0;
    if (b[p] === 0x7d) p++;
    else {
      let before: ShapeNode | undefined;
      for (;;) {
        if (b[p] !== 0x22) return this.#stuck(p, 'a member name');
        const guess: ShapeNode | undefined = before === undefined ? node.leader : before.follower;
        let member: ShapeNode;
        if (guess !== undefined && this.#matches(p + 1, guess.key)) {
          member = guess;
          p += guess.key.length + 2;
        } else {
          const q = this.text(p + 1);
          if (q === NEED_MORE) return NEED_MORE;
          member = node.member(JSON.parse(Buffer.from(b.buffer, b.byteOffset + p, q - p).toString()));
          if (before === undefined) node.leader = member;
          else before.follower = member;
          p = q;
        }
        p = this.space(p);
        if (b[p] !== 0x3a) return this.#stuck(p, 'a colon');
        p = this.value(this.space(p + 1), member);
        if (p === NEED_MORE) return NEED_MORE;
        if (member.required) required++;
        if (member.stamp === stamp) this.irregular = true;
        member.stamp = stamp;
        before = member;
        p = this.space(p);
        const c = b[p];
        if (c === 0x2c) p = this.space(p + 1);
        else if (c === 0x7d) {
          p++;
          break;
        } else return this.#stuck(p, 'a comma or a closing brace');
      }
    }
    if (required < node.requiredMembers) node.kinds |= Mark.missing;
    return p;
  }

  #matches(p: number, key: Uint8Array): boolean {
    const b = this.#bytes;
    const length = key.length;
    if (b[p + length] !== 0x22) return false;
    for (let i = 0; i < length; i++) if (b[p + i] !== key[i]) return false;
    return true;
  }

  #array(start: number, node: ShapeNode): number {
    const b = this.#bytes;
    node.kinds |= Kind.array;
    const element = node.element;
    let p = this.space(start);
    if (b[p] === 0x5d) return p + 1;
    for (;;) {
      p = element === undefined ? this.skip(p) : this.value(p, element);
      if (p === NEED_MORE) return NEED_MORE;
      p = this.space(p);
      const c = b[p];
      if (c === 0x2c) p = this.space(p + 1);
      else if (c === 0x5d) return p + 1;
      else return this.#stuck(p, 'a comma or a closing bracket');
    }
  }

  /** Scans one value at `p` without noting anything. Returns the offset behind it or NEED_MORE. */
  skip(p: number): number {
    const c = this.#bytes[p] as number;
    if (c === 0x22) return this.text(p + 1);
    if (c === 0x7b) return this.#skipObject(p + 1);
    if (c === 0x5b) return this.#skipArray(p + 1);
    if (c === 0x2d || isDigit(c)) return this.#number(p, undefined);
    return this.#word(p, c);
  }

  #skipObject(start: number): number {
    const b = this.#bytes;
    let p = this.space(start);
    if (b[p] === 0x7d) return p + 1;
    for (;;) {
      if (b[p] !== 0x22) return this.#stuck(p, 'a member name');
      p = this.text(p + 1);
      if (p === NEED_MORE) return NEED_MORE;
      p = this.space(p);
      if (b[p] !== 0x3a) return this.#stuck(p, 'a colon');
      p = this.skip(this.space(p + 1));
      if (p === NEED_MORE) return NEED_MORE;
      p = this.space(p);
      const c = b[p];
      if (c === 0x2c) p = this.space(p + 1);
      else if (c === 0x7d) return p + 1;
      else return this.#stuck(p, 'a comma or a closing brace');
    }
  }

  #skipArray(start: number): number {
    const b = this.#bytes;
    let p = this.space(start);
    if (b[p] === 0x5d) return p + 1;
    for (;;) {
      p = this.skip(p);
      if (p === NEED_MORE) return NEED_MORE;
      p = this.space(p);
      const c = b[p];
      if (c === 0x2c) p = this.space(p + 1);
      else if (c === 0x5d) return p + 1;
      else return this.#stuck(p, 'a comma or a closing bracket');
    }
  }

  /** Scans a text whose opening quote stands before `p`. Returns the offset behind its closing quote or NEED_MORE. */
  text(p: number): number {
    const b = this.#bytes;
    let q = p;
    for (;;) {
      q = this.#plain(q);
      const c = b[q];
      if (c === 0x22) return q + 1;
      if (c !== 0x5c) return this.#stuck(q, 'no control character inside a text');
      const escaped = b[q + 1] as number;
      if (escaped === 0x75) {
        const unit = this.#unit(q);
        if (unit < 0) return this.#stuck(-unit, 'a hex digit');
        q += 6;
        if (unit >= 0xd800 && unit <= 0xdfff) {
          if (unit < 0xdc00 && (q >= this.end || (b[q] === 0x5c && q + 1 >= this.end))) return NEED_MORE;
          const low = unit < 0xdc00 && b[q] === 0x5c && b[q + 1] === 0x75 ? this.#unit(q) : 0;
          if (low < 0) return this.#stuck(-low, 'a hex digit');
          if (low >= 0xdc00 && low <= 0xdfff) q += 6;
          else this.irregular = true;
        }
      } else if (ESCAPES.includes(escaped)) q += 2;
      else return this.#stuck(q + 1, 'an escape');
    }
  }

  /** The first offset at or after `q` whose byte is not plain: four bytes at a time where they are aligned. */
  #plain(start: number): number {
    const b = this.#bytes;
    let q = start;
    while ((q & 3) !== 0) {
      if (PLAIN[b[q] as number] !== 1) return q;
      q++;
    }
    const words = this.#words;
    let i = q >> 2;
    for (;;) {
      const w = words[i] as number;
      const quote = w ^ 0x22222222;
      const backslash = w ^ 0x5c5c5c5c;
      const found =
        ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash) | ((w - 0x20202020) & ~w);
      if ((found & 0x80808080) !== 0) break;
      i++;
    }
    q = i << 2;
    while (PLAIN[b[q] as number] === 1) q++;
    return q;
  }

  /** The code unit of the escape `\\uXXXX` at `q`, or the negative offset of what is no hex digit. */
  #unit(q: number): number {
    let unit = 0;
    for (let i = q + 2; i < q + 6; i++) {
      const c = this.#bytes[i] as number;
      if (!isHex(c)) return -i;
      unit = unit * 16 + (c <= 0x39 ? c - 0x30 : (c | 0x20) - 0x57);
    }
    return unit;
  }

  #number(start: number, node: ShapeNode | undefined): number {
    const b = this.#bytes;
    let p = b[start] === 0x2d ? start + 1 : start;
    const first = p;
    if (!isDigit(b[p] as number)) return this.#stuck(p, 'a digit');
    while (isDigit(b[p] as number)) p++;
    if (b[first] === 0x30 && p > first + 1) throw new SyntaxFault(first, 'a number with a leading zero');
    const digits = p - first;
    // Beyond some 300 digits a number is no double any more.
    let kind: number = digits <= 15 ? Kind.integer : digits <= 300 ? Kind.longInteger : Mark.exponent;
    if (b[p] === 0x2e) {
      if (digits <= 300) kind = Kind.real;
      if (!isDigit(b[++p] as number)) return this.#stuck(p, 'a digit');
      while (isDigit(b[p] as number)) p++;
    }
    if (b[p] === 0x65 || b[p] === 0x45) {
      kind = Mark.exponent;
      p++;
      if (b[p] === 0x2b || b[p] === 0x2d) p++;
      if (!isDigit(b[p] as number)) return this.#stuck(p, 'a digit');
      while (isDigit(b[p] as number)) p++;
    }
    if (p >= this.end) return NEED_MORE;
    if (node !== undefined) node.kinds |= kind;
    return p;
  }

  #word(p: number, first: number): number {
    const word = first === 0x6e ? WORD_NULL : first === 0x74 ? WORD_TRUE : WORD_FALSE;
    const b = this.#bytes;
    for (let i = 0; i < word.length; i++) if (b[p + i] !== word[i]) return this.#stuck(p + i, 'a value');
    return p + word.length;
  }

  #textKind(start: number, end: number, lexical: 1 | 2): number {
    const b = this.#bytes;
    if (lexical === 2) {
      return isPlainTimestamp(b, start, end) || isTimestamp(latin1(b, start, end))
        ? Kind.timestampText
        : Kind.text;
    }
    const first = b[start] === 0x2d ? start + 1 : start;
    let p = first;
    while (p < end && isDigit(b[p] as number)) p++;
    if (p === first || p - first > 15 || (b[first] === 0x30 && p > first + 1)) return Kind.text;
    if (p === end) return Kind.integerText;
    if (b[p] !== 0x2e || p + 1 === end) return Kind.text;
    for (p++; p < end; p++) if (!isDigit(b[p] as number)) return Kind.text;
    return Kind.realText;
  }

  #stuck(p: number, expected: string): number {
    if (p >= this.end) return NEED_MORE;
    throw new SyntaxFault(p, `expected ${expected}`);
  }
}

const ESCAPES = [...Buffer.from('"\\/bfnrt')];
const WORD_NULL = Buffer.from('null');
const WORD_TRUE = Buffer.from('true');
const WORD_FALSE = Buffer.from('false');

function kindOf(first: number): number {
  if (first === 0x22) return Kind.text;
  if (first === 0x7b) return Kind.object;
  if (first === 0x5b) return Kind.array;
  if (first === 0x6e) return Kind.null;
  return first === 0x2d || isDigit(first) ? Kind.real : Kind.boolean;
}

/** Text of a byte range whose bytes stand for themselves. */
export function latin1(b: Uint8Array, start: number, end: number): string {
  return Buffer.from(b.buffer, b.byteOffset + start, end - start).toString('latin1');
}

/** The two forms that nearly every timestamp has: 27 bytes with microseconds and Z, or 19 bytes without zone. */
function isPlainTimestamp(b: Uint8Array, s: number, e: number): boolean {
  const length = e - s;
  if (length === 27) {
    if (b[s + 10] !== 0x54 || b[s + 19] !== 0x2e || b[s + 26] !== 0x5a) return false;
    for (let i = s + 20; i < s + 26; i++) if (!isDigit(b[i] as number)) return false;
  } else if (length !== 19 || (b[s + 10] !== 0x20 && b[s + 10] !== 0x54)) return false;
  if (b[s + 4] !== 0x2d || b[s + 7] !== 0x2d || b[s + 13] !== 0x3a || b[s + 16] !== 0x3a) return false;
  const century = two(b, s);
  const month = two(b, s + 5);
  const day = two(b, s + 8);
  return (
    century >= 1 &&
    two(b, s + 2) >= 0 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= 28 &&
    inside(two(b, s + 11), 23) &&
    inside(two(b, s + 14), 59) &&
    inside(two(b, s + 17), 59)
  );
}

const inside = (value: number, most: number): boolean => value >= 0 && value <= most;

/** Two digits as a number; negative where they are none. */
function two(b: Uint8Array, p: number): number {
  const tens = (b[p] as number) - 0x30;
  const ones = (b[p + 1] as number) - 0x30;
  return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -1 : tens * 10 + ones;
}
