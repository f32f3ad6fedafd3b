import { CholeskyDecomposition, Matrix } from 'ml-matrix';
import type { PricedRow } from './blocks.js';
import { type Factor, sharedOf, sizeOf } from './design.js';
import { evidence, type Square } from './evidence.js';
import { emptyGroups, type GroupEffects, groupsOf, groupsVariance } from './groups.js';
import { emptyNodes, type NodeSums, type Sums } from './sums.js';

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
interface FittedNodes {
  /** The effect of a node at the fitted coefficients. */
  readonly effect: Float64Array;
  /** Variance of its effect at known coefficients. */
  readonly variance: Float64Array;
  /** Its sums, with those that its children gave it. */
  readonly sums: NodeSums;
  /** The weight of its own sales in its effect is `share` for each unit of theirs; that of its parent is `lean`. */
  readonly share: Float64Array;
  readonly lean: Float64Array;
  /** How the errors of the coefficients reach its effect; computed when first needed. */
  readonly reach: (Reach | undefined)[];
}

/** The effect of a node falls by `follows` if the coefficients rise by 1. */
interface Reach {
  /** covariance × follows. */
  readonly vector: Float64Array;
  /** follows × covariance × follows. */
  readonly scalar: number;
  /** Sum of the vector at the coefficients that all lots have. */
  readonly ofShared: number;
}

/** The terms that all lots have. */
interface Shared {
  readonly coefficients: readonly number[];
  /** covariance × terms. */
  readonly vector: Float64Array;
  /** terms × covariance × terms. */
  readonly scalar: number;
}

/** Coefficients with their covariance, and the nodes of the tree. */
export interface Fit {
  readonly coefficients: Float64Array;
  /** A square matrix, row by row. */
  readonly covariance: Float64Array;
  readonly shared: Shared;
  readonly tree: Tree;
  readonly nodes: FittedNodes;
  /** The spread of these coefficients, for the next fit. */
  readonly spread: Spread;
  /** Effective number of coefficients that the prices determine. */
  readonly freedom: number;
  /** Weighted mean of each coefficient's term. */
  readonly means: Float64Array;
  /** The effects of groups, which were known when the others were fitted, or were fitted after them. */
  readonly groups: GroupEffects;
}

/** Depths of a tree. */
const DEPTHS = 3;

/** The spread of effects before they are known. */
const ASSUMED = { usual: 0.02, prior: 1 };

/** A broad spread, so that the prices determine the effects: half of them lie within a third of the mean. */
const BROAD = 0.25;
/** The fit before any price: no effects, and a broad spread. */
export function emptyFit(factors: readonly Factor[], groups: readonly Int32Array[]): Fit {
  const nothing = new Float64Array(sizeOf(factors));
  const none = new Float64Array();
  const sums = emptyNodes(0, 0);
  return {
    ...{ coefficients: nothing, covariance: none, tree: [], freedom: 0, means: nothing },
    shared: { coefficients: [], vector: nothing, scalar: 0 },
    nodes: { effect: none, variance: none, sums, share: none, lean: none, reach: [] },
    spread: [...factors.map(() => BROAD), 0.05, 0.1, 0.2],
    groups: emptyGroups(groups),
  };
}

/** Keeps a coefficient near zero if no price determines it; 1 / variance. */
const TINY = 0.01;

/**
 * Solves the mixed model. Each effect is shrunk towards the mean of its kind as far as its spread allows: a generation
 * towards its model, a model towards its make, and a point of a line towards its neighbours. The tree is eliminated first,
 * node by node, so that only a small system is left.
 */
export function solve(
  sums: Sums,
  factors: readonly Factor[],
  tree: Tree,
  { spread, groups }: Pick<Fit, 'spread' | 'groups'>,
): Fit {
  const size = sizeOf(factors);
  const normal = Float64Array.from(sums.normal);
  const right = Float64Array.from(sums.right);
  const nodes = eliminate(sums.leaves, tree, spread, normal, right);
  const system = Matrix.from1DArray(size, size, normal);
  addPriors(system, factors, spread);
  mirror(system);
  const inverse = new CholeskyDecomposition(system).solve(Matrix.eye(size));
  const covariance = Float64Array.from(inverse.to1DArray());
  const coefficients = right.map((_, row) => dot(covariance, row * size, right));
  const fitted = fitNodes(nodes, tree, spread, coefficients);
  const [weight = 1] = sums.normal;
  const means = sums.normal.slice(0, size).map((sum) => sum / weight);
  const learnt = learn(factors, tree, spread, coefficients, covariance, fitted);
  const shared = sharedTerms(factors, covariance);
  return { coefficients, covariance, shared, tree, nodes: fitted, means, groups, ...learnt };
}

function sharedTerms(factors: readonly Factor[], covariance: Float64Array): Shared {
  const coefficients = sharedOf(factors);
  const vector = new Float64Array(sizeOf(factors));
  for (const at of coefficients) addMultiple(vector, covariance, at * vector.length, 1);
  return { coefficients, vector, scalar: sumAt(vector, coefficients) };
}

/** 1 / variance of the effect of each node about its parent. */
const precisionsOf = (tree: Tree, spread: Spread): Float64Array =>
  Float64Array.from(tree, ({ depth }) => 1 / (spread.at(depth - DEPTHS) ?? 1));

/**
 * Takes the nodes out of the system one after the other, and adds the information of each to its parent. Returns their sums
 * with those of their children.
 */
function eliminate(
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

/** Adds the prior of the effects: each contrast of a factor is near zero, as its spread allows. */
function addPriors(system: Matrix, factors: readonly Factor[], spread: Spread): void {
  const add = (row: number, column: number, precision: number): Matrix =>
    system.set(row, column, system.get(row, column) + precision);
  for (let at = 0; at < system.rows; at += 1) add(at, at, TINY);
  factors.forEach((factor, i) => {
    const precision = 1 / (spread[i] ?? 1);
    for (const contrast of contrastsOf(factor))
      for (const [row, a] of contrast)
        for (const [column, b] of contrast) if (row <= column) add(row, column, a * b * precision);
  });
}

/** A weighted sum of coefficients that is near zero unless sales show otherwise. */
type Contrast = readonly (readonly [coefficient: number, weight: number])[];

/** A level lies near the mean, a month near the month before, and the line of age and of mileage bends little. */
function contrastsOf({ name, offset, levels, knots }: Factor): Contrast[] {
  if (knots === undefined) return levels.map((_, i) => [[offset + i, 1]]);
  const gap = (at: number): number => (knots[at + 1] ?? 0) - (knots[at] ?? 0);
  const steps = knots.slice(1).map((_, at) => at);
  if (name === 'month')
    return steps.map((at) => [
      [offset + at, -1],
      [offset + at + 1, 1],
    ]);
  // At an inner knot: the slope after it less the slope before it.
  return steps.slice(1).map((at) => {
    const weight = Math.sqrt(2 / (gap(at - 1) + gap(at)));
    return [
      [offset + at - 1, weight / gap(at - 1)],
      [offset + at, -weight / gap(at - 1) - weight / gap(at)],
      [offset + at + 1, weight / gap(at)],
    ];
  });
}

/** Fills the lower triangle from the upper one. */
function mirror(system: Matrix): void {
  for (let row = 1; row < system.rows; row += 1)
    for (let column = 0; column < row; column += 1) system.set(row, column, system.get(column, row));
}

/** Makes, then models, then generations, each from its own sales and its parent. */
function fitNodes(sums: NodeSums, tree: Tree, spread: Spread, coefficients: Float64Array): FittedNodes {
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
  return { effect, variance, sums, share, lean, reach: Array(tree.length) };
}

/** Takes one step towards the spreads that are most likely given the prices. */
function learn(
  factors: readonly Factor[],
  tree: Tree,
  spread: Spread,
  coefficients: Float64Array,
  covariance: Float64Array,
  { effect, variance, sums: { weight } }: FittedNodes,
): Pick<Fit, 'spread' | 'freedom'> {
  const ofFactors = factors.map((factor, i) =>
    evidence(
      spread[i] ?? 1,
      contrastsOf(factor).map((contrast) => squareOf(contrast, coefficients, covariance)),
      ASSUMED,
    ),
  );
  const ofTree = spread.slice(-DEPTHS).map((assumed, depth) => {
    const squares: Square[] = [];
    tree.forEach((node, i) => {
      if (node.depth !== depth || weight[i] === 0) return;
      const informed = (weight[i] ?? 0) * assumed;
      const known = informed / (informed + 1);
      const left = (1 - known) * assumed + known ** 2 * (variance[node.parent] ?? 0);
      squares.push([((effect[i] ?? 0) - (effect[node.parent] ?? 0)) ** 2, left]);
    });
    return evidence(assumed, squares, ASSUMED);
  });
  const all = [...ofFactors, ...ofTree];
  return {
    spread: all.map(({ variance }) => variance),
    freedom: all.reduce((sum, { freedom }) => sum + freedom, 1),
  };
}

function squareOf(contrast: Contrast, coefficients: Float64Array, covariance: Float64Array): Square {
  const size = coefficients.length;
  let [effect, left] = [0, 0];
  for (const [row, a] of contrast) {
    effect += a * (coefficients[row] ?? 0);
    for (const [column, b] of contrast) left += a * b * (covariance[row * size + column] ?? 0);
  }
  return [effect ** 2, left];
}

/** The log price that a fit expects for a row. */
export function expected({ nodes, coefficients, groups }: Fit, row: PricedRow): number {
  const { index, share, count, model } = row;
  let sum = (nodes.effect[model] ?? 0) + groupsOf(groups, row);
  for (let i = 0; i < count; i += 1) sum += (share[i] ?? 0) * (coefficients[index[i] ?? 0] ?? 0);
  return sum;
}

/** Variance of the expected log price of a row, without the noise of a sale. */
export function uncertainty(fit: Fit, row: PricedRow): number {
  const { covariance, nodes, shared, groups } = fit;
  const { model } = row;
  const { index, share, count } = row.own;
  const { vector, scalar, ofShared } = reachOf(fit, model);
  const size = vector.length;
  let sum =
    (nodes.variance[model] ?? 0) + scalar - 2 * ofShared + shared.scalar + groupsVariance(groups, row);
  // The intercept is among the shared terms.
  for (let i = 1; i < count; i += 1) {
    const [at, weight] = [index[i] ?? 0, share[i] ?? 0];
    const line = at * size;
    let half = ((covariance[line + at] ?? 0) * weight) / 2 - (vector[at] ?? 0) + (shared.vector[at] ?? 0);
    for (let k = 1; k < i; k += 1) half += (covariance[line + (index[k] ?? 0)] ?? 0) * (share[k] ?? 0);
    sum += 2 * weight * half;
  }
  return sum;
}

/** Variance of the effect of a node. */
export const effectVariance = (fit: Fit, node: number): number =>
  (fit.nodes.variance[node] ?? 0) + reachOf(fit, node).scalar;

/** The reach of a node: a part of its own sales, and a part of the reach of its parent. */
function reachOf(fit: Fit, node: number): Reach {
  const { reach, sums, share, lean } = fit.nodes;
  const known = reach[node];
  if (known !== undefined) return known;
  const size = fit.coefficients.length;
  const [own, leant] = [share[node] ?? 0, lean[node] ?? 0];
  const vector = spreadOf(fit.covariance, sums.terms.subarray(node * size, (node + 1) * size), own);
  let scalar = own * dot(sums.terms, node * size, vector);
  const parent = fit.tree[node]?.parent ?? -1;
  if (parent >= 0) {
    const above = reachOf(fit, parent);
    scalar += 2 * leant * own * dot(sums.terms, node * size, above.vector) + leant ** 2 * above.scalar;
    addMultiple(vector, above.vector, 0, leant);
  }
  const made = { vector, scalar, ofShared: sumAt(vector, fit.shared.coefficients) };
  reach[node] = made;
  return made;
}

/** matrix × terms × factor, of a symmetric matrix; four terms in one sweep over the vector. */
function spreadOf(matrix: Float64Array, terms: Float64Array, factor: number): Float64Array {
  const size = terms.length;
  const vector = new Float64Array(size);
  const used = new Int32Array(size);
  let count = 0;
  for (let at = 0; at < size; at += 1) {
    used[count] = at;
    if (terms[at] !== 0) count += 1;
  }
  for (let i = 0; i < count; i += 4) {
    const [a, b, c, d] = [used[i] ?? 0, used[i + 1] ?? 0, used[i + 2] ?? 0, used[i + 3] ?? 0];
    const ofA = factor * (terms[a] ?? 0);
    const ofB = i + 1 < count ? factor * (terms[b] ?? 0) : 0;
    const ofC = i + 2 < count ? factor * (terms[c] ?? 0) : 0;
    const ofD = i + 3 < count ? factor * (terms[d] ?? 0) : 0;
    const [lineA, lineB, lineC, lineD] = [a * size, b * size, c * size, d * size];
    for (let at = 0; at < size; at += 1)
      vector[at] =
        (vector[at] ?? 0) +
        ofA * (matrix[lineA + at] ?? 0) +
        ofB * (matrix[lineB + at] ?? 0) +
        ofC * (matrix[lineC + at] ?? 0) +
        ofD * (matrix[lineD + at] ?? 0);
  }
  return vector;
}

const sumAt = (vector: Float64Array, places: readonly number[]): number =>
  places.reduce((sum, at) => sum + (vector[at] ?? 0), 0);

/** Adds a multiple of as many numbers of a matrix, from `first` on, to a vector. */
function addMultiple(vector: Float64Array, matrix: Float64Array, first: number, factor: number): void {
  for (let at = 0; at < vector.length; at += 1)
    vector[at] = (vector[at] ?? 0) + factor * (matrix[first + at] ?? 0);
}

/** The product of a vector with as many numbers of a matrix, from `first` on. */
function dot(matrix: Float64Array, first: number, vector: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) sum += (matrix[first + at] ?? 0) * (vector[at] ?? 0);
  return sum;
}
