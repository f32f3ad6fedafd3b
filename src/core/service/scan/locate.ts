import { isUtf8 } from 'node:buffer';
import type { ContractNode } from '../contract/node.js';
import { withoutWords } from './bare-words.js';
import { BRACE, BRACKET, COMMA, END_BRACE, END_BRACKET } from './scan-page.js';
import { giveBack, takeScanner, type ValueScanner } from './walker/scan-values.js';

/** A path into one record: names of members, and positions in lists from 0. */
export type RecordPath = readonly (string | number)[];

/** Offsets of a value in a record: its first byte, and the byte behind its last. */
export type Span = readonly [start: number, end: number];

/** A place to find, and the places to find below it: members by name, elements by position. */
interface Wanted {
  readonly below: Map<string | number, Wanted>;
  span: Span | undefined;
}

/** The spans of the values at some paths of a record, found in one walk over it; undefined if there is none. */
export function locate(
  record: Uint8Array,
  paths: readonly RecordPath[],
  contract: ContractNode,
): (Span | undefined)[] {
  const root: Wanted = { below: new Map(), span: undefined };
  const wanted = paths.map((path) => path.reduce(wantedBelow, root));
  scan(record, contract, (values, from) => noteSpans(values, from, root));
  return wanted.map(({ span }) => span);
}

function scan(
  record: Uint8Array,
  contract: ContractNode,
  walk: (values: ValueScanner, from: number) => void,
): void {
  const values = takeScanner(contract);
  try {
    values.memory.append(record);
    walk(values, values.space(values.memory.start));
  } finally {
    giveBack(values);
  }
}

function wantedBelow(wanted: Wanted, step: string | number): Wanted {
  const found = wanted.below.get(step) ?? { below: new Map(), span: undefined };
  wanted.below.set(step, found);
  return found;
}

/** Notes the span of the value at `from` and of the wanted places inside it. Returns the address behind it. */
function noteSpans(values: ValueScanner, from: number, wanted: Wanted): number {
  const { bytes, start } = values.memory;
  const isInside = wanted.below.size > 0 && (bytes[from] === BRACE || bytes[from] === BRACKET);
  const end = isInside
    ? walkInside(values, from, (step, at) => {
        const inner = wanted.below.get(step);
        return inner === undefined ? values.skip(at) : noteSpans(values, at, inner);
      })
    : values.skip(from);
  wanted.span = [from - start, end - start];
  return end;
}

/**
 * Calls `visit` for each member or element of the object or list at `from`. It gets the name or position, and the
 * addresses of the value, of the beginning of the member, and behind its name. It returns the address behind the value.
 * Returns the address behind the object or list.
 */
function walkInside(
  values: ValueScanner,
  from: number,
  visit: (step: string | number, at: number, begin: number, named: number) => number,
): number {
  const { bytes } = values.memory;
  const isObject = bytes[from] === BRACE;
  let p = values.space(from + 1);
  if (bytes[p] === (isObject ? END_BRACE : END_BRACKET)) return p + 1;
  for (let position = 0; ; position++) {
    const begin = p;
    const named = isObject ? values.skip(p) : p;
    const step = isObject ? JSON.parse(bytes.toString('utf8', begin, named)) : position;
    // Behind the colon.
    if (isObject) p = values.space(values.space(named) + 1);
    p = values.space(visit(step, p, begin, named));
    if (bytes[p] !== COMMA) return p + 1;
    p = values.space(p + 1);
  }
}

/** A text that replaces some bytes of a record. */
export interface Edit {
  readonly span: Span;
  readonly text: string;
}

/** A record with its edits applied, except those inside of an earlier one. */
export function edited(line: Buffer, edits: readonly Edit[]): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const { span, text } of [...edits].sort((a, b) => a.span[0] - b.span[0])) {
    if (span[0] < from) continue;
    parts.push(line.subarray(from, span[0]), Buffer.from(text));
    from = span[1];
  }
  return Buffer.concat([...parts, line.subarray(from)]);
}

/** An escape in JSON that may be half of a surrogate pair. */
export const HALF_PAIR = /\\u[dD][89a-fA-F]/;

/**
 * Whether a text in a JSON value, however deep, holds half of a surrogate pair, which no UTF-8 text can.
 * @param isMeant which texts are looked for, in place of all that hold one
 */
export function hasHalfPair(value: unknown, isMeant = (text: string) => !text.isWellFormed()): boolean {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string' && isMeant(next)) return true;
    if (Array.isArray(next)) for (const element of next) left.push(element);
    else if (typeof next === 'object' && next !== null)
      for (const [name, inner] of Object.entries(next)) left.push(name, inner);
  }
  return false;
}

/**
 * A record as DuckDB takes it. A word in place of a number becomes a text that is rejected. If a member stands twice in an object of the contract, the last value counts, as in
 * JSON.parse. Half of a surrogate pair in the name of a member becomes U+FFFD. All other bytes stay.
 */
export function regular(line: Buffer, contract: ContractNode): Buffer {
  if (!isUtf8(line)) return line;
  const json = Buffer.from(withoutWords(line.toString('utf8')));
  const edits: Edit[] = [];
  scan(json, contract, (values, from) => noteIrregular(values, from, contract, edits));
  return edits.length === 0 ? json : edited(json, edits);
}

/** Collects the edits for the value at `from`. Returns the address behind it. */
function noteIrregular(values: ValueScanner, from: number, node: ContractNode, edits: Edit[]): number {
  const { bytes, start } = values.memory;
  const isObject = bytes[from] === BRACE && node.members.size > 0;
  if (!isObject && (bytes[from] !== BRACKET || node.element === undefined)) return values.skip(from);
  const members: { readonly name: string; readonly begin: number }[] = [];
  const end = walkInside(values, from, (step, at, begin, named) => {
    if (typeof step === 'string') {
      members.push({ name: step, begin: begin - start });
      if (!step.isWellFormed())
        edits.push({ span: [begin - start, named - start], text: JSON.stringify(step.toWellFormed()) });
    }
    const member = typeof step === 'string' ? node.members.get(step) : node.element;
    return member === undefined ? values.skip(at) : noteIrregular(values, at, member, edits);
  });
  const last = new Map(members.map(({ name }, i) => [name, i]));
  // Up to the next member. There is one, because the last of this name comes later.
  for (const [i, { name, begin }] of members.entries())
    if (last.get(name) !== i) edits.push({ span: [begin, members[i + 1]?.begin ?? begin], text: '' });
  return end;
}
