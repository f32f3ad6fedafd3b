import type { PricedRow } from './blocks.js';

/** Sums over the sales of each node of the tree make, model, generation. A weight is 1 / variance. */
export type NodeSums = Readonly<ReturnType<typeof emptyNodes>>;

/** Everything that a fit needs of the sales: the normal equations, and the sums of each generation. */
export type Sums = Readonly<ReturnType<typeof emptySums>>;

/** Sums without sales. */
export function emptySums(size: number, leaves: number) {
  return {
    /** Upper triangle of a square matrix, row by row. */
    normal: new Float64Array(size * size),
    right: new Float64Array(size),
    leaves: emptyNodes(size, leaves),
    /** Number of sales by coefficient, without weights. */
    counts: new Float64Array(size),
  };
}

/** Sums of nodes without sales. */
export function emptyNodes(size: number, nodes: number) {
  return {
    /** Sum of weights. */
    weight: new Float64Array(nodes),
    /** Sum of weighted log prices. */
    price: new Float64Array(nodes),
    /** Weighted sum of each coefficient, node by node. */
    terms: new Float64Array(nodes * size),
  };
}

/**
 * Adds a sale. Of the coefficients that all sales have it adds only the intercept: `fillShared` fills in the others.
 * @param weight 1 / variance of its log price; 0 to leave it out
 * @param logPrice without the effects of its groups
 */
export function addSale(
  { normal, right, leaves, counts }: Sums,
  row: PricedRow,
  weight: number,
  logPrice: number,
): void {
  if (weight === 0) return;
  const { model, index, share, count } = row;
  const size = right.length;
  leaves.weight[model] = (leaves.weight[model] ?? 0) + weight;
  leaves.price[model] = (leaves.price[model] ?? 0) + weight * logPrice;
  for (let i = 0; i < count; i += 1) {
    const at = index[i] ?? 0;
    const own = share[i] ?? 0;
    const weighted = weight * own;
    const term = model * size + at;
    counts[at] = (counts[at] ?? 0) + own;
    right[at] = (right[at] ?? 0) + weighted * logPrice;
    leaves.terms[term] = (leaves.terms[term] ?? 0) + weighted;
    const line = at * size;
    // The coefficients of a row ascend.
    for (let k = i; k < count; k += 1) {
      const cell = line + (index[k] ?? 0);
      normal[cell] = (normal[cell] ?? 0) + weighted * (share[k] ?? 0);
    }
  }
}

/** Gives the coefficients that all sales have the sums of the intercept. */
export function fillShared({ normal, right, leaves, counts }: Sums, shared: readonly number[]): void {
  const size = right.length;
  for (const at of shared) {
    counts[at] = counts[0] ?? 0;
    right[at] = right[0] ?? 0;
    for (let term = 0; term < leaves.terms.length; term += size)
      leaves.terms[term + at] = leaves.terms[term] ?? 0;
    for (let other = 0; other < size; other += 1) {
      const sum = normal[shared.includes(other) ? 0 : other] ?? 0;
      normal[Math.min(at, other) * size + Math.max(at, other)] = sum;
    }
  }
}
