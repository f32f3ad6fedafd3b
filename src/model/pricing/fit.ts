import { CholeskyDecomposition, Matrix } from 'ml-matrix';
import { type Factor, sizeOf } from './design.js';
import type { PricedRow } from './rows.js';
import { emptyNode, type NodeSums, type Sums } from './sums.js';

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

/** A node after the fit. */
interface FittedNode {
  /** Its effect at the fitted coefficients. */
  readonly effect: number;
  /** How much the effect falls if a coefficient rises by 1, by coefficient. */
  readonly follows: Float64Array;
  /** Variance of its effect at known coefficients. */
  readonly variance: number;
  readonly weight: number;
  /** covariance × follows, and follows × covariance × follows; computed when first needed. */
  spread?: { readonly vector: Float64Array; readonly scalar: number };
}

/** Coefficients with their covariance, and the nodes of the tree. */
export interface Fit {
  readonly coefficients: Float64Array;
  readonly covariance: readonly Float64Array[];
  readonly nodes: readonly FittedNode[];
  /** The spread of these coefficients, for the next fit. */
  readonly spread: Spread;
  /** Effective number of coefficients that the prices determine. */
  readonly freedom: number;
  /** Weighted mean of each coefficient's term. */
  readonly means: Float64Array;
}

/** Depths of a tree. */
const DEPTHS = 3;

/** A broad spread, so that the prices determine the effects: half of them lie within a third of the mean. */
const BROAD = 0.25;
/** Assumed spread of effects before they are known. */
const USUAL = 0.02;
/** Number of effects that the assumed spread counts as. */
const PRIOR = 1;

/** The fit before any price: no effects, and a broad spread. */
export function emptyFit(factors: readonly Factor[]): Fit {
  const nothing = new Float64Array(sizeOf(factors));
  return {
    ...{ coefficients: nothing, covariance: [], nodes: [], freedom: 0, means: nothing },
    spread: [...factors.map(() => BROAD), 0.05, 0.1, 0.2],
  };
}

/** Keeps a coefficient near zero if no price determines it; 1 / variance. */
const TINY = 0.01;

/**
 * Solves the mixed model. Each effect is shrunk towards the mean of its kind as far as its spread allows: a generation
 * towards its model, a model towards its make, and a point of a line towards its neighbours. The tree is eliminated first,
 * node by node, so that only a small system is left.
 */
export function solve(sums: Sums, factors: readonly Factor[], tree: Tree, spread: Spread): Fit {
  const size = sizeOf(factors);
  const normal = Float64Array.from(sums.normal);
  const right = Float64Array.from(sums.right);
  const nodes = tree.map((_, i): NodeSums => sums.leaves[i] ?? emptyNode(size));
  nodes.forEach((node, i) => {
    eliminate(node, nodes[tree[i]?.parent ?? -1], precisionAt(tree, spread, i), normal, right);
  });
  const system = Matrix.from1DArray(size, size, normal);
  addPriors(system, factors, spread);
  mirror(system);
  const inverse = new CholeskyDecomposition(system).solve(Matrix.eye(size));
  const covariance = Array.from({ length: size }, (_, row) => Float64Array.from(inverse.getRow(row)));
  const coefficients = product(covariance, right);
  const fitted = fitNodes(nodes, tree, spread, coefficients);
  const [weight = 1] = sums.normal;
  const means = sums.normal.slice(0, size).map((sum) => sum / weight);
  const learnt = learn(factors, tree, spread, coefficients, covariance, fitted);
  return { coefficients, covariance, nodes: fitted, means, ...learnt };
}

const precisionAt = (tree: Tree, spread: Spread, node: number): number =>
  1 / (spread.at((tree[node]?.depth ?? 0) - DEPTHS) ?? 1);

/** Takes a node out of the system, and adds its information to its parent. */
function eliminate(
  node: NodeSums,
  parent: NodeSums | undefined,
  precision: number,
  normal: Float64Array,
  right: Float64Array,
): void {
  if (node.weight === 0) return;
  const share = 1 / (node.weight + precision);
  const { terms } = node;
  const used = [...terms.keys()].filter((at) => terms[at] !== 0);
  for (let place = 0; place < used.length; place += 1) {
    const at = used[place] ?? 0;
    const term = (terms[at] ?? 0) * share;
    right[at] = (right[at] ?? 0) - term * node.price;
    if (parent !== undefined) parent.terms[at] = (parent.terms[at] ?? 0) + precision * term;
    for (let k = place; k < used.length; k += 1) {
      const cell = at * right.length + (used[k] ?? 0);
      normal[cell] = (normal[cell] ?? 0) - term * (terms[used[k] ?? 0] ?? 0);
    }
  }
  if (parent === undefined) return;
  parent.weight += precision * share * node.weight;
  parent.price += precision * share * node.price;
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
function fitNodes(
  nodes: readonly NodeSums[],
  tree: Tree,
  spread: Spread,
  coefficients: Float64Array,
): FittedNode[] {
  const fitted: FittedNode[] = Array(nodes.length);
  for (let i = nodes.length - 1; i >= 0; i -= 1) {
    const { weight, price, terms } = nodes[i] ?? emptyNode(coefficients.length);
    const parent = fitted[tree[i]?.parent ?? -1];
    const precision = precisionAt(tree, spread, i);
    const share = 1 / (weight + precision);
    const lean = precision * share;
    fitted[i] = {
      effect: share * (price - dot(terms, coefficients)) + lean * (parent?.effect ?? 0),
      follows: terms.map((term, at) => share * term + lean * (parent?.follows[at] ?? 0)),
      variance: share + lean ** 2 * (parent?.variance ?? 0),
      weight,
    };
  }
  return fitted;
}

/** Takes one step towards the spreads that are most likely given the prices. */
function learn(
  factors: readonly Factor[],
  tree: Tree,
  spread: Spread,
  coefficients: Float64Array,
  covariance: Fit['covariance'],
  nodes: readonly FittedNode[],
): Pick<Fit, 'spread' | 'freedom'> {
  const ofFactors = factors.map((factor, i) =>
    evidence(
      spread[i] ?? 1,
      contrastsOf(factor).map((contrast) => squareOf(contrast, coefficients, covariance)),
    ),
  );
  const ofTree = spread.slice(-DEPTHS).map((variance, depth) =>
    evidence(
      variance,
      nodes.flatMap((node, i): Square[] => {
        if (tree[i]?.depth !== depth || node.weight === 0) return [];
        const parent = nodes[tree[i]?.parent ?? -1];
        const known = (node.weight * variance) / (node.weight * variance + 1);
        const left = (1 - known) * variance + known ** 2 * (parent?.variance ?? 0);
        return [[(node.effect - (parent?.effect ?? 0)) ** 2, left]];
      }),
    ),
  );
  const all = [...ofFactors, ...ofTree];
  return {
    spread: all.map(({ variance }) => variance),
    freedom: all.reduce((sum, { freedom }) => sum + freedom, 1),
  };
}

/** A squared effect and its remaining variance. */
type Square = readonly [effect: number, left: number];

function squareOf(contrast: Contrast, coefficients: Float64Array, covariance: Fit['covariance']): Square {
  let [effect, left] = [0, 0];
  for (const [row, a] of contrast) {
    effect += a * (coefficients[row] ?? 0);
    for (const [column, b] of contrast) left += a * b * (covariance[row]?.[column] ?? 0);
  }
  return [effect ** 2, left];
}

/**
 * MacKay's step: an effect that the prices determine counts fully, one that is only shrunk does not count. The usual
 * spread counts as PRIOR more effects, so that the spread of a few effects neither vanishes nor grows at once.
 */
function evidence(variance: number, squares: readonly Square[]): { variance: number; freedom: number } {
  const sum = squares.reduce((total, [effect]) => total + effect, 0);
  const freedom = squares.reduce((total, [, left]) => total + Math.max(0, 1 - left / variance), 0);
  return { variance: (sum + PRIOR * USUAL) / (freedom + PRIOR), freedom };
}

/** The log price that a fit expects for a row. */
export function expected(fit: Fit, row: PricedRow): number {
  let sum = fit.nodes[row.model]?.effect ?? 0;
  for (let i = 0; i < row.count; i += 1)
    sum += (row.share[i] ?? 0) * (fit.coefficients[row.index[i] ?? 0] ?? 0);
  return sum;
}

/** Variance of the expected log price of a row, without the noise of a sale. */
export function uncertainty(fit: Fit, { index, share, count, model }: PricedRow): number {
  const node = fit.nodes[model];
  if (node === undefined) return 0;
  const { vector, scalar } = spreadOf(fit, node);
  let sum = node.variance + scalar;
  for (let i = 0; i < count; i += 1) {
    const [at, weight] = [index[i] ?? 0, share[i] ?? 0];
    const row = fit.covariance[at] ?? vector;
    let half = ((row[at] ?? 0) * weight) / 2 - (vector[at] ?? 0);
    for (let k = 0; k < i; k += 1) half += (row[index[k] ?? 0] ?? 0) * (share[k] ?? 0);
    sum += 2 * weight * half;
  }
  return sum;
}

/** Variance of the effect of a node. */
export const effectVariance = (fit: Fit, node: FittedNode): number =>
  node.variance + spreadOf(fit, node).scalar;

function spreadOf({ covariance }: Fit, node: FittedNode): NonNullable<FittedNode['spread']> {
  if (node.spread === undefined) {
    const vector = product(covariance, node.follows);
    node.spread = { vector, scalar: dot(vector, node.follows) };
  }
  return node.spread;
}

const product = (matrix: readonly Float64Array[], vector: Float64Array): Float64Array =>
  Float64Array.from(matrix, (row) => dot(row, vector));

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
