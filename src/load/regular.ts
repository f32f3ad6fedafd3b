import { isUtf8 } from 'node:buffer';
import { BRACE, BRACKET, type Edit, edited, walkInside } from '../land/locate.js';
import { giveBack, takeScanner, type ValueScanner } from '../land/walker/scan-values.js';
import type { ContractNode } from '../service/contract/node.js';

/** An escape in JSON that may be half of a surrogate pair. */
export const HALF_PAIR = /\\u[dD][89a-fA-F]/;

/** Half of a surrogate pair in a text. */
const HALF = /\p{Surrogate}/gu;

/** Whether a text in a JSON value, however deep, holds half of a surrogate pair, which no UTF-8 text can. */
export function hasHalfPair(value: unknown): boolean {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string' && next.search(HALF) >= 0) return true;
    if (Array.isArray(next)) for (const element of next) left.push(element);
    else if (typeof next === 'object' && next !== null)
      for (const [name, inner] of Object.entries(next)) left.push(name, inner);
  }
  return false;
}

/**
 * A record as DuckDB takes it: of a member that stands twice in an object of the contract the last value counts, as in
 * JSON.parse, and half of a surrogate pair in the name of a member becomes U+FFFD. All other bytes stay.
 */
export function regular(line: Buffer, contract: ContractNode): Buffer {
  if (!isUtf8(line)) return line;
  const values = takeScanner(contract, '');
  try {
    values.memory.append(line);
    const edits: Edit[] = [];
    walk(values, values.space(values.memory.start), contract, edits);
    return edits.length === 0 ? line : edited(line, edits);
  } finally {
    giveBack(values, contract);
  }
}

/** Notes what is irregular in the value at `from`. Returns the address behind it. */
function walk(values: ValueScanner, from: number, node: ContractNode, edits: Edit[]): number {
  const { bytes, start } = values.memory;
  const isObject = bytes[from] === BRACE && node.members.size > 0;
  if (!isObject && (bytes[from] !== BRACKET || node.element === undefined)) return values.skip(from);
  const members: { readonly name: string; readonly begin: number }[] = [];
  const end = walkInside(values, from, (step, at, begin, named) => {
    if (typeof step === 'string') {
      members.push({ name: step, begin: begin - start });
      const text = bytes.toString('utf8', begin, named);
      if (HALF_PAIR.test(text) && hasHalfPair(step))
        edits.push({
          span: [begin - start, named - start],
          text: JSON.stringify(step.replaceAll(HALF, '\ufffd')),
        });
    }
    const member = typeof step === 'string' ? node.members.get(step) : node.element;
    return member === undefined ? values.skip(at) : walk(values, at, member, edits);
  });
  const seen = new Set<string>();
  for (const [i, { name, begin }] of [...members.entries()].reverse()) {
    // Up to the member behind it, which is there: the last of this name comes later.
    if (seen.has(name)) edits.push({ span: [begin, members[i + 1]?.begin ?? begin], text: '' });
    seen.add(name);
  }
  return end;
}
