import type { RecordPath } from '../land/locate.js';
import type { ContractNode } from '../service/contract/node.js';

/** An escape in JSON that may be half of a surrogate pair. */
export const HALF_PAIR = /\\u[dD][89a-fA-F]/;

/** Half of a surrogate pair in a text. */
const HALF = /\p{Surrogate}/u;

/**
 * Paths of the values of a record that hold half of a surrogate pair, which no UTF-8 text can: the plain values of the
 * contract, and whole values where the contract describes no inside.
 */
export function* halfPairs(value: unknown, node: ContractNode, path: RecordPath = []): Generator<RecordPath> {
  if (node.element !== undefined && Array.isArray(value)) {
    for (const [i, element] of value.entries()) yield* halfPairs(element, node.element, [...path, i]);
  } else if (node.members.size > 0 && isObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      const member = node.members.get(name);
      if (member !== undefined) yield* halfPairs(inner, member, [...path, name]);
      else if (hasHalfPair(inner)) yield [...path, name];
    }
  } else if (hasHalfPair(value)) yield path;
}

/** Whether a text in a JSON value, however deep, holds half of a surrogate pair. */
export function hasHalfPair(value: unknown): boolean {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string' && HALF.test(next)) return true;
    if (Array.isArray(next)) for (const element of next) left.push(element);
    else if (isObject(next)) for (const [name, inner] of Object.entries(next)) left.push(name, inner);
  }
  return false;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
