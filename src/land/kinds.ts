import { Kind } from '../service/contract/field.js';
import { Mark } from './shape.js';

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
