import type { ContractNode } from '../service/contract/node.js';
import { giveBack, takeScanner, type ValueScanner } from './scan-values.js';

/** A path into one record: names of members, and positions in lists from 0. */
export type RecordPath = readonly (string | number)[];

/** Bytes of a record: the first of a value and the one behind its last. */
export type Span = readonly [start: number, end: number];

/** Finds the values at some paths of one record, which is valid JSON; undefined where there is none. */
export function locate(
  record: Uint8Array,
  paths: readonly RecordPath[],
  contract: ContractNode,
): (Span | undefined)[] {
  const values = takeScanner(contract, '');
  try {
    values.memory.append(record);
    const { start } = values.memory;
    return paths.map((path) => {
      const at = path.reduce<number | undefined>(
        (from, step) => (from === undefined ? undefined : inside(values, from, step)),
        values.space(start),
      );
      return at === undefined ? undefined : [at - start, values.skip(at) - start];
    });
  } finally {
    giveBack(values, contract);
  }
}

const COMMA = 0x2c;
const QUOTE = 0x22;

/** Where the value of a member, or the element of a list, begins within the value at `from`. */
function inside(values: ValueScanner, from: number, step: string | number): number | undefined {
  const { bytes } = values.memory;
  let p = values.space(from + 1);
  for (let position = 0; ; position++) {
    let isWanted = position === step;
    if (typeof step === 'string') {
      if (bytes[p] !== QUOTE) return undefined;
      const end = values.text(p + 1);
      isWanted = JSON.parse(bytes.toString('utf8', p, end)) === step;
      p = values.space(values.space(end) + 1);
    }
    if (isWanted) return p;
    p = values.space(values.skip(p));
    if (bytes[p] !== COMMA) return undefined;
    p = values.space(p + 1);
  }
}
