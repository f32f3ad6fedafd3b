import { emptyNodes, type NodeSums } from './sums.js';
import { dot } from './vectors.js';

/**
 * The tree make, model, generation: nodes by number, generations first, parents after their children. The parent of a make
 * is -1; depth 0 is a generation, 1 a model, 2 a make.
 */
export type Tree = readonly { readonly parent: number; readonly depth: number }[];

/**
 * Variances of the effects, in log prices: one for each factor (for a line, per unit between knots), then one each for
 * generations about their model, models about their make, and makes about the mean.
 */
export type Spread = readonly number[];

/** The nodes of the tree after the fit, by number. */
export interface FittedNodes {
  /** The effect of a node at the fitted coefficients. */
  readonly effect: Float64Array;
  /** Variance of its effect at known coefficients. */
  readonly variance: Float64Array;
  /** Its sums, with those that its children gave it. */
  readonly sums: NodeSums;
  /** The weight of its own sales in its effect is `share` for each unit of theirs; that of its parent is `lean`. */
  readonly share: Float64Array;
  readonly lean: Float64Array;
  readonly reach: Reach;
}

/**
 * How the errors of the coefficients reach the effects of nodes, each computed when first needed. The effect of a node falls
 * by `follows` if the coefficients rise by 1.
 */
export interface Reach {
  /** Whether a node is computed: 0 or 1. */
  readonly isKnown: Uint8Array;
  /** covariance × follows, node by node. */
  readonly vectors: Float64Array;
  /** follows × covariance × follows. */
  readonly scalar: Float64Array;
  /** Sum of the vector at the coefficients that all lots have. */
  readonly ofShared: Float64Array;
}

/** The reach of nodes before any is computed. */
export const emptyReach = (size: number, nodes: number): Reach => ({
  isKnown: new Uint8Array(nodes),
  vectors: new Float64Array(nodes * size),
  scalar: new Float64Array(nodes),
  ofShared: new Float64Array(nodes),
});

/** Depths of a tree. */
export const DEPTHS = 3;

/** 1 / variance of the effect of each node about its parent. */
const precisionsOf = (tree: Tree, spread: Spread): Float64Array =>
  Float64Array.from(tree, ({ depth }) => 1 / (spread.at(depth - DEPTHS) ?? 1));

/**
 * Takes the nodes out of the system one after the other, and adds the information of each to its parent. Returns their sums
 * with those of their children.
 */
export function eliminate(
  leaves: NodeSums,
  tree: Tree,
  spread: Spread,
  normal: Float64Array,
  right: Float64Array,
): NodeSums {
  const size = right.length;
  const nodes = emptyNodes(size, tree.length);
  nodes.weight.set(leaves.weight);
  nodes.price.set(leaves.price);
  nodes.terms.set(leaves.terms);
  let group: Eliminated[] = [];
  precisionsOf(tree, spread).forEach((precision, node) => {
    const weight = nodes.weight[node] ?? 0;
    if (weight === 0) return;
    const price = nodes.price[node] ?? 0;
    const terms = nodes.terms.subarray(node * size, (node + 1) * size);
    const share = 1 / (weight + precision);
    group.push({ terms, price, share });
    if (group.length === GROUP) {
      takeOut(normal, right, group);
      group = [];
    }
    const parent = tree[node]?.parent ?? -1;
    if (parent < 0) return;
    nodes.weight[parent] = (nodes.weight[parent] ?? 0) + precision * share * weight;
    nodes.price[parent] = (nodes.price[parent] ?? 0) + precision * share * price;
    for (let at = 0; at < size; at += 1)
      nodes.terms[parent * size + at] =
        (nodes.terms[parent * size + at] ?? 0) + precision * ((terms[at] ?? 0) * share);
  });
  takeOut(normal, right, group);
  return nodes;
}

/** Sums of a node that is taken out of the system; its share is 1 / (weight + precision). */
interface Eliminated {
  readonly terms: Float64Array;
  readonly price: number;
  readonly share: number;
}

/** Number of nodes that are taken out of the system in one sweep over it. */
const GROUP = 4;

/** Takes up to GROUP nodes out of the system, in their order. */
function takeOut(normal: Float64Array, right: Float64Array, group: readonly Eliminated[]): void {
  const size = right.length;
  const nothing: Eliminated = { terms: new Float64Array(size), price: 0, share: 0 };
  const [a = nothing, b = nothing, c = nothing, d = nothing] = group;
  const used = new Int32Array(size);
  const [ofA, ofB] = [new Float64Array(size), new Float64Array(size)];
  const [ofC, ofD] = [new Float64Array(size), new Float64Array(size)];
  let count = 0;
  for (let at = 0; at < size; at += 1) {
    ofA[count] = a.terms[at] ?? 0;
    ofB[count] = b.terms[at] ?? 0;
    ofC[count] = c.terms[at] ?? 0;
    ofD[count] = d.terms[at] ?? 0;
    used[count] = at;
    if (ofA[count] !== 0 || ofB[count] !== 0 || ofC[count] !== 0 || ofD[count] !== 0) count += 1;
  }
  for (let i = 0; i < count; i += 1) {
    const at = used[i] ?? 0;
    const termA = (ofA[i] ?? 0) * a.share;
    const termB = (ofB[i] ?? 0) * b.share;
    const termC = (ofC[i] ?? 0) * c.share;
    const termD = (ofD[i] ?? 0) * d.share;
    right[at] = (right[at] ?? 0) - termA * a.price - termB * b.price - termC * c.price - termD * d.price;
    const line = at * size;
    for (let k = i; k < count; k += 1) {
      const cell = line + (used[k] ?? 0);
      normal[cell] =
        (normal[cell] ?? 0) -
        termA * (ofA[k] ?? 0) -
        termB * (ofB[k] ?? 0) -
        termC * (ofC[k] ?? 0) -
        termD * (ofD[k] ?? 0);
    }
  }
}

/** Makes, then models, then generations, each from its own sales and its parent. */
export function fitNodes(
  sums: NodeSums,
  tree: Tree,
  spread: Spread,
  coefficients: Float64Array,
): FittedNodes {
  const precisions = precisionsOf(tree, spread);
  const share = precisions.map((precision, node) => 1 / ((sums.weight[node] ?? 0) + precision));
  const lean = precisions.map((precision, node) => precision * (share[node] ?? 0));
  const [effect, variance] = [new Float64Array(tree.length), new Float64Array(tree.length)];
  for (let node = tree.length - 1; node >= 0; node -= 1) {
    const parent = tree[node]?.parent ?? -1;
    const [own, leant] = [share[node] ?? 0, lean[node] ?? 0];
    const rest = (sums.price[node] ?? 0) - dot(sums.terms, node * coefficients.length, coefficients);
    effect[node] = own * rest + leant * (effect[parent] ?? 0);
    variance[node] = own + leant ** 2 * (variance[parent] ?? 0);
  }
  return { effect, variance, sums, share, lean, reach: emptyReach(coefficients.length, tree.length) };
}
