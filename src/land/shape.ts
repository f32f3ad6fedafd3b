import { Kind } from '../service/contract/field.js';
import * as at from './walker/layout.js';
import type { ShapeNode, ShapeTree } from './walker/shape-tree.js';

/** Marks that the scanner sets beside the kinds of `contract/field.ts`: no contract accepts them. */
export const Mark = {
  /** A number with an exponent: it may not fit a double. */
  exponent: at.EXPONENT,
  /** An object without a member that the contract requires. */
  missing: at.MISSING,
} as const;

/** A member that the contract does not know. */
export interface Drift {
  readonly path: string;
  readonly kinds: number;
  /** Position in the page of the first record that has it. */
  readonly firstRecord: number;
}

/** A place whose values do not all fit the contract. */
export interface Misfit {
  readonly path: string;
  readonly kinds: number;
}

/**
 * Most unknown members that a page, and a pass, reports. More names than that are data, such as ids, and each would be a
 * column during a load.
 */
export const MOST_DRIFT = 500;

/** Compares what was seen in a page with the contract. Returns at most one unknown member more than are reported. */
export function compareShape(tree: ShapeTree): { drift: Drift[]; misfits: Misfit[] } {
  const drift: Drift[] = [];
  const misfits: Misfit[] = [];
  const visit = (node: ShapeNode): void => {
    const kinds = tree.kinds(node);
    if (kinds === 0) return;
    if (node.contract === undefined) {
      if (drift.length <= MOST_DRIFT)
        drift.push({ path: node.path, kinds, firstRecord: tree.firstRecord(node) });
      return;
    }
    if ((kinds & ~node.contract.accepts) !== 0) misfits.push({ path: node.path, kinds });
    // Where no object belongs, its members are part of the misfit and not of the record's shape.
    if (node.contract.members.size === 0 && node.element === undefined) return;
    for (const member of node.members.values()) visit(member);
    if (node.element !== undefined) visit(node.element);
  };
  visit(tree.root);
  return { drift, misfits };
}

const NAMES: readonly (readonly [number, string])[] = [
  [Kind.null, 'null'],
  [Kind.boolean, 'boolean'],
  [Kind.integer, 'integer'],
  [Kind.longInteger, 'long integer'],
  [Kind.real, 'number'],
  [Kind.text, 'text'],
  [Kind.integerText, 'integer as text'],
  [Kind.realText, 'number as text'],
  [Kind.timestampText, 'timestamp'],
  [Kind.yearOrMonthText, 'year or month'],
  [Kind.object, 'object'],
  [Kind.array, 'array'],
  [Mark.exponent, 'number with exponent'],
  [Mark.missing, 'object without a required member'],
];

/** Names of the kinds in a set of bits, for people. */
export function kindNames(kinds: number): string[] {
  return NAMES.filter(([bit]) => (kinds & bit) !== 0).map(([, name]) => name);
}
