import { CholeskyDecomposition, Matrix } from 'ml-matrix';
import type { PricedRow } from './blocks.js';
import { type Factor, sharedOf, sizeOf } from './design.js';
import { evidence, type Square } from './evidence.js';
import { emptyGroups, type GroupEffects, groupsOf, groupsVariance } from './groups.js';
import {
  DEPTHS,
  eliminate,
  emptyReach,
  type FittedNodes,
  fitNodes,
  type Reach,
  type Spread,
  type Tree,
} from './make-tree.js';
import { addPriors, contrastsOf, squareOf } from './priors.js';
import { emptyNodes, type Sums } from './sums.js';
import { addMultiple, addProduct, dot, sumAt } from './vectors.js';

/** The terms that all lots have. */
interface Shared {
  readonly coefficients: readonly number[];
  /** What they add to a log price. */
  readonly effect: number;
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

/** The spread of effects before they are known. */
const ASSUMED = { usual: 0.02, prior: 1 };
/** The spread of the change from month to month before it is known, 2 %. */
const OF_MONTHS = { usual: 0.0004, prior: 1 };

/** A broad spread, so that the prices determine the effects: half of them lie within a third of the mean. */
const BROAD = 0.25;
/** The fit before any price: no effects, and a broad spread. */
export function emptyFit(factors: readonly Factor[], groups: readonly Int32Array[]): Fit {
  const nothing = new Float64Array(sizeOf(factors));
  const none = new Float64Array();
  const sums = emptyNodes(0, 0);
  return {
    coefficients: nothing,
    covariance: none,
    tree: [],
    freedom: 0,
    means: nothing,
    shared: { coefficients: [], effect: 0, vector: nothing, scalar: 0 },
    nodes: { effect: none, variance: none, sums, share: none, lean: none, reach: emptyReach(0, 0) },
    spread: [...factors.map(() => BROAD), 0.05, 0.1, 0.2],
    groups: emptyGroups(groups),
  };
}

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
  const shared = sharedTerms(factors, coefficients, covariance);
  return { coefficients, covariance, shared, tree, nodes: fitted, means, groups, ...learnt };
}

function sharedTerms(
  factors: readonly Factor[],
  coefficients: Float64Array,
  covariance: Float64Array,
): Shared {
  const shared = sharedOf(factors);
  const vector = new Float64Array(coefficients.length);
  for (const at of shared) addMultiple(vector, covariance, at * vector.length, 1);
  return {
    coefficients: shared,
    effect: sumAt(coefficients, shared),
    vector,
    scalar: sumAt(vector, shared),
  };
}

/** Fills the lower triangle from the upper one. */
function mirror(system: Matrix): void {
  for (let row = 1; row < system.rows; row += 1)
    for (let column = 0; column < row; column += 1) system.set(row, column, system.get(column, row));
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
      factor.name === 'month' ? OF_MONTHS : ASSUMED,
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

/** The log price that a fit expects for a row. @param ofGroups what the groups of the row add */
export function expected(
  { nodes, coefficients, shared, groups }: Fit,
  row: PricedRow,
  ofGroups = groupsOf(groups, row),
): number {
  const { index, share, count, model } = row;
  let sum = (nodes.effect[model] ?? 0) + ofGroups + shared.effect;
  // The intercept is among the shared terms.
  for (let i = 1; i < count; i += 1) sum += (share[i] ?? 0) * (coefficients[index[i] ?? 0] ?? 0);
  return sum;
}

/**
 * Variance of the expected log price of a row, without the noise of a sale.
 * @param ofGroups the part that the groups of the row have
 */
export function uncertainty(fit: Fit, row: PricedRow, ofGroups = groupsVariance(fit.groups, row)): number {
  const { covariance, nodes, shared } = fit;
  const { model, index, share, count } = row;
  const { vectors, scalar, ofShared } = reachOf(fit, model);
  const size = fit.coefficients.length;
  const first = model * size;
  let sum =
    (nodes.variance[model] ?? 0) +
    (scalar[model] ?? 0) -
    2 * (ofShared[model] ?? 0) +
    shared.scalar +
    ofGroups;
  for (let i = 1; i < count; i += 1) {
    const at = index[i] ?? 0;
    const weight = share[i] ?? 0;
    const line = at * size;
    let half =
      ((covariance[line + at] ?? 0) * weight) / 2 - (vectors[first + at] ?? 0) + (shared.vector[at] ?? 0);
    for (let k = 1; k < i; k += 1) half += (covariance[line + (index[k] ?? 0)] ?? 0) * (share[k] ?? 0);
    sum += 2 * weight * half;
  }
  return sum;
}

/** Variance of the effect of a node. */
export const effectVariance = (fit: Fit, node: number): number =>
  (fit.nodes.variance[node] ?? 0) + (reachOf(fit, node).scalar[node] ?? 0);

/** The reach of nodes, of which one is known: a part of its own sales, and a part of the reach of its parent. */
function reachOf(fit: Fit, node: number): Reach {
  const { reach } = fit.nodes;
  if (reach.isKnown[node] === 0) addReach(fit, node);
  return reach;
}

function addReach(fit: Fit, node: number): void {
  const { reach, sums, share, lean } = fit.nodes;
  const size = fit.coefficients.length;
  const first = node * size;
  const [own, leant] = [share[node] ?? 0, lean[node] ?? 0];
  const vector = reach.vectors.subarray(first, first + size);
  addProduct(vector, fit.covariance, sums.terms.subarray(first, first + size), own);
  let scalar = own * dot(sums.terms, first, vector);
  const parent = fit.tree[node]?.parent ?? -1;
  if (parent >= 0) {
    const { vectors, scalar: scalars } = reachOf(fit, parent);
    const above = vectors.subarray(parent * size, (parent + 1) * size);
    scalar += 2 * leant * own * dot(sums.terms, first, above) + leant ** 2 * (scalars[parent] ?? 0);
    addMultiple(vector, above, 0, leant);
  }
  reach.isKnown[node] = 1;
  reach.scalar[node] = scalar;
  reach.ofShared[node] = sumAt(vector, fit.shared.coefficients);
}
