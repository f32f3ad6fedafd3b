import type { PricedRow } from './rows.js';

/** Sums over the sales of a node of the tree make, model, generation. A weight is 1 / variance. */
export interface NodeSums {
  /** Sum of weights. */
  weight: number;
  /** Sum of weighted log prices. */
  price: number;
  /** Weighted sum of each coefficient. */
  readonly terms: Float64Array;
}

/** Everything that a fit needs of the sales: the normal equations, and the sums of each generation. */
export type Sums = Readonly<ReturnType<typeof emptySums>>;

/** Sums without sales. */
export function emptySums(size: number, leaves: number) {
  return {
    /** Upper triangle of a square matrix, row by row. */
    normal: new Float64Array(size * size),
    right: new Float64Array(size),
    leaves: Array.from({ length: leaves }, () => emptyNode(size)),
    /** Number of sales by coefficient, without weights. */
    counts: new Float64Array(size),
  };
}

/** Sums of a node without sales. */
export function emptyNode(size: number): NodeSums {
  return { weight: 0, price: 0, terms: new Float64Array(size) };
}

/** Adds a sale; `weight` is 1 / variance of its log price, 0 to leave it out. */
export function addSale(sums: Sums, row: PricedRow, weight: number): void {
  const { normal, right, leaves, counts } = sums;
  const leaf = leaves[row.model];
  if (leaf === undefined || weight === 0) return;
  leaf.weight += weight;
  leaf.price += weight * row.logPrice;
  const { index, share, count, logPrice } = row;
  for (let i = 0; i < count; i += 1) {
    const at = index[i] ?? 0;
    const weighted = weight * (share[i] ?? 0);
    counts[at] = (counts[at] ?? 0) + (share[i] ?? 0);
    right[at] = (right[at] ?? 0) + weighted * logPrice;
    leaf.terms[at] = (leaf.terms[at] ?? 0) + weighted;
    const line = at * right.length;
    // The coefficients of a row ascend.
    for (let k = i; k < count; k += 1) {
      const place = line + (index[k] ?? 0);
      normal[place] = (normal[place] ?? 0) + weighted * (share[k] ?? 0);
    }
  }
}
