import { type EnumerationName, enumerations } from '../../core/service/contract/enumerations.js';
import type { Names } from '../../core/service/parameter.js';
import { byWeight } from '../world/random.js';

/** A value of an enumeration in the form of the records. */
export type Named = Readonly<ReturnType<typeof named>>;

/** The value with an id. */
export function named(enumeration: EnumerationName, id: number) {
  const values: Names = enumerations[enumeration];
  return { name: values[id] ?? '', id };
}

/** Id and name of a larger row. */
export const idAndName = ({ id, name }: { readonly id: number; readonly name: string }) => ({ id, name });

/** Values of an enumeration for `pick`, repeated by the weights in `id:weight`. */
function weighted(enumeration: EnumerationName, weights: string): readonly Named[] {
  const pairs = weights.split(' ').map((pair) => pair.split(':').map(Number));
  return byWeight(pairs, ([, weight = 0]) => weight).map(([id = 0]) => named(enumeration, id));
}

/** Conditions for `pick`. */
export const conditions = weighted('condition', '0:60 1:10 2:3 3:12 4:3 5:4 6:14 7:2');

/** Usual colours for `pick`. */
export const colors = weighted('color', '15:24 13:24 9:16 1:12 11:10 5:8 4:2 8:2 3:1 100:1');

/** Colours of few vehicles, all equally rare. */
export const rareColors = [2, 6, 7, 10, 12, 14, 16, 17, 18].map((id) => named('color', id));
