import * as Kind from '../contract/kinds.js';

/** A place whose values do not all fit the contract. */
export interface Misfit {
  readonly path: string;
  readonly kinds: number;
}

/** A member that the contract does not know. */
export interface Drift extends Misfit {
  /** Position in the page of the first record that has it. */
  readonly firstRecord: number;
}

/** Most unknown members that a page, and a pass, reports. More are data, such as ids, and no columns for a load. */
export const MOST_DRIFT = 500;

const NAMES: readonly (readonly [number, string])[] = [
  [Kind.NULL, 'null'],
  [Kind.BOOLEAN, 'boolean'],
  [Kind.INTEGER, 'integer'],
  [Kind.LONG_INTEGER, 'long integer'],
  [Kind.REAL, 'number'],
  [Kind.TEXT, 'text'],
  [Kind.INTEGER_TEXT, 'integer as text'],
  [Kind.REAL_TEXT, 'number as text'],
  [Kind.TIMESTAMP_TEXT, 'timestamp'],
  [Kind.YEAR_OR_MONTH_TEXT, 'year or month'],
  [Kind.OBJECT, 'object'],
  [Kind.ARRAY, 'array'],
  [Kind.EXPONENT, 'number with exponent'],
  [Kind.MISSING, 'object without a required member'],
  [Kind.NEGATIVE_KEY, 'key below zero'],
];

/** Names of the kinds in a set of bits, for people. */
export function kindNames(kinds: number): string[] {
  return NAMES.filter(([bit]) => (kinds & bit) !== 0).map(([, name]) => name);
}
