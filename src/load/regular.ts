import { isUtf8 } from 'node:buffer';
import type { Span } from '../land/locate.js';
import { giveBack, takeScanner, type ValueScanner } from '../land/walker/scan-values.js';
import type { ContractNode } from '../service/contract/node.js';
import { HALF_PAIR, hasHalfPair } from './half-pairs.js';

const COMMA = 0x2c;
const QUOTE = 0x22;

/** Bytes of a record, and what stands in their place. */
interface Edit {
  readonly span: Span;
  readonly text: string;
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
    const { start } = values.memory;
    const edits: Edit[] = [];
    walk(values, values.space(start), contract, edits);
    const parts: Buffer[] = [];
    let from = 0;
    for (const { span, text } of edits.sort((a, b) => a.span[0] - b.span[0])) {
      // What is edited inside of a member that is left out.
      if (span[0] - start < from) continue;
      parts.push(line.subarray(from, span[0] - start), Buffer.from(text));
      from = span[1] - start;
    }
    return from === 0 ? line : Buffer.concat([...parts, line.subarray(from)]);
  } finally {
    giveBack(values, contract);
  }
}

/** Notes what is irregular in the value at `from`. Returns the address behind it. */
function walk(values: ValueScanner, from: number, node: ContractNode, edits: Edit[]): number {
  const { bytes } = values.memory;
  const first = bytes[from];
  const isObject = first === 0x7b && node.members.size > 0;
  const isList = first === 0x5b && node.element !== undefined;
  if (!isObject && !isList) return values.skip(from);
  let p = values.space(from + 1);
  if (bytes[p] === (first ?? 0) + 2) return p + 1;
  const begins = new Map<string, Span>();
  for (;;) {
    const begin = p;
    let member = node.element;
    let name: string | undefined;
    if (isObject && bytes[p] === QUOTE) {
      const end = values.text(p + 1);
      const text = bytes.toString('utf8', p, end);
      name = JSON.parse(text) as string;
      if (HALF_PAIR.test(text) && hasHalfPair(name))
        edits.push({ span: [p, end], text: JSON.stringify(name.replaceAll(/\p{Surrogate}/gu, '\ufffd')) });
      member = node.members.get(name);
      p = values.space(values.space(end) + 1);
    }
    p = values.space(member === undefined ? values.skip(p) : walk(values, p, member, edits));
    const isLast = bytes[p] !== COMMA;
    if (!isLast) p = values.space(p + 1);
    if (name !== undefined) {
      const earlier = begins.get(name);
      if (earlier !== undefined) edits.push({ span: earlier, text: '' });
      begins.set(name, [begin, p]);
    }
    if (isLast) return p + 1;
  }
}
