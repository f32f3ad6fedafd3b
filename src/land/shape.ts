import { Kind } from '../service/contract/field.js';
import * as at from './walker/layout.js';

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
  [at.EXPONENT, 'number with exponent'],
  [at.MISSING, 'object without a required member'],
];

/** Names of the kinds in a set of bits, for people. */
export function kindNames(kinds: number): string[] {
  return NAMES.filter(([bit]) => (kinds & bit) !== 0).map(([, name]) => name);
}
