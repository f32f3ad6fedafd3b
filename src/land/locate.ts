import type { ContractNode } from '../service/contract/node.js';
import { giveBack, takeScanner, type ValueScanner } from './walker/scan-values.js';

/** A path into one record: names of members, and positions in lists from 0. */
export type RecordPath = readonly (string | number)[];

/** Bytes of a record: the first of a value and the one behind its last. */
export type Span = readonly [start: number, end: number];

/** Places that are looked for below one value: members by name, elements by position. */
interface Wanted {
  readonly below: Map<string | number, Wanted>;
  span: Span | undefined;
}

/**
 * Finds the values at some paths of one record, which is valid JSON; undefined where there is none. Walks the record
 * once, however many paths there are.
 */
export function locate(
  record: Uint8Array,
  paths: readonly RecordPath[],
  contract: ContractNode,
): (Span | undefined)[] {
  const root: Wanted = { below: new Map(), span: undefined };
  const wanted = paths.map((path) => path.reduce(wantedBelow, root));
  const values = takeScanner(contract, '');
  try {
    values.memory.append(record);
    walk(values, values.space(values.memory.start), root);
    return wanted.map(({ span }) => span);
  } finally {
    giveBack(values, contract);
  }
}

function wantedBelow(wanted: Wanted, step: string | number): Wanted {
  const known = wanted.below.get(step);
  if (known !== undefined) return known;
  const added: Wanted = { below: new Map(), span: undefined };
  wanted.below.set(step, added);
  return added;
}

const COMMA = 0x2c;
export const BRACE = 0x7b;
export const BRACKET = 0x5b;

/** Notes the span of the value at `from` and of what is wanted inside it. Returns the address behind it. */
function walk(values: ValueScanner, from: number, wanted: Wanted): number {
  const { bytes, start } = values.memory;
  const isInside = wanted.below.size > 0 && (bytes[from] === BRACE || bytes[from] === BRACKET);
  const end = isInside
    ? walkInside(values, from, (step, at) => {
        const inner = wanted.below.get(step);
        return inner === undefined ? values.skip(at) : walk(values, at, inner);
      })
    : values.skip(from);
  wanted.span = [from - start, end - start];
  return end;
}

/**
 * Calls `visit` for each member or element of the object or list at `from`: with its name or position, and the addresses
 * of its value, where it begins, and behind its name. `visit` gives the address behind the value. Returns the one behind
 * the whole.
 */
export function walkInside(
  values: ValueScanner,
  from: number,
  visit: (step: string | number, at: number, begin: number, named: number) => number,
): number {
  const { bytes } = values.memory;
  const isObject = bytes[from] === BRACE;
  let p = values.space(from + 1);
  // An object or a list without anything in it.
  if (bytes[p] === (bytes[from] ?? 0) + 2) return p + 1;
  for (let position = 0; ; position++) {
    const begin = p;
    const named = isObject ? values.text(p + 1) : p;
    const step = isObject ? JSON.parse(bytes.toString('utf8', begin, named)) : position;
    // Behind the colon.
    if (isObject) p = values.space(values.space(named) + 1);
    p = values.space(visit(step, p, begin, named));
    if (bytes[p] !== COMMA) return p + 1;
    p = values.space(p + 1);
  }
}

/** A text in the place of some bytes of a record. */
export interface Edit {
  readonly span: Span;
  readonly text: string;
}

/** A record with its edits; one inside of the bytes of an earlier one is left out. */
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
