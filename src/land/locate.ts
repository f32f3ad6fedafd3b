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
const QUOTE = 0x22;
const BRACE = 0x7b;
const BRACKET = 0x5b;

/** Notes the span of the value at `from` and of what is wanted inside it. Returns the address behind it. */
function walk(values: ValueScanner, from: number, wanted: Wanted): number {
  const { bytes, start } = values.memory;
  const isObject = bytes[from] === BRACE;
  const isInside = wanted.below.size > 0 && (isObject || bytes[from] === BRACKET);
  const end = isInside ? walkInside(values, from, wanted.below, isObject) : values.skip(from);
  wanted.span = [from - start, end - start];
  return end;
}

function walkInside(
  values: ValueScanner,
  from: number,
  below: ReadonlyMap<string | number, Wanted>,
  isObject: boolean,
): number {
  const { bytes } = values.memory;
  let p = values.space(from + 1);
  // An object or a list without anything in it.
  if (bytes[p] === (bytes[from] ?? 0) + 2) return p + 1;
  for (let position = 0; ; position++) {
    let step: string | number = position;
    if (isObject && bytes[p] === QUOTE) {
      const end = values.text(p + 1);
      step = JSON.parse(bytes.toString('utf8', p, end));
      p = values.space(values.space(end) + 1);
    }
    const inner = below.get(step);
    p = values.space(inner === undefined ? values.skip(p) : walk(values, p, inner));
    if (bytes[p] !== COMMA) return p + 1;
    p = values.space(p + 1);
  }
}
