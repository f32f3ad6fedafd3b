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
 * How far the effects of a kind lie apart, as variances of log prices: of each factor, of a line for one unit between knots;
 * then of generations about their model, models about their make, makes about all.
 */
export type Spread = readonly number[];

/** A node after the fit. `effect` belongs to the fitted coefficients; were they x more, it would be `follows` × x less. */
interface FittedNode {
  readonly effect: number;
  readonly follows: Float64Array;
  /** Variance of its effect at known coefficients. */
  readonly variance: number;
  readonly weight: number;
  /** covariance × follows, and follows × covariance × follows; computed when first asked for. */
  spread?: { readonly vector: Float64Array; readonly scalar: number };
}

/** Coefficients with their covariance, and the nodes of the tree. */
export interface Fit {
  readonly coefficients: Float64Array;
  readonly covariance: readonly Float64Array[];
  readonly nodes: readonly FittedNode[];
  /** The spread that these coefficients show, for the next fit. */
  readonly spread: Spread;
  /** Number of free coefficients that the data decided. */
  readonly freedom: number;
  /** Weighted mean of each coefficient's term. */
  readonly means: Float64Array;
}

/** Depths of a tree. */
const DEPTHS = 3;

/** A spread that leaves the effects to the prices: half of them lie within a third of the mean. */
const BROAD = 0.25;
/** What is taken for the spread of effects before they are known, and as how many effects it counts. */
const USUAL = 0.02;
const PRIOR = 1;

/** What is known before any price: nothing, and a broad spread. */
export function emptyFit(factors: readonly Factor[]): Fit {
  const nothing = new Float64Array(sizeOf(factors));
  return {
    ...{ coefficients: nothing, covariance: [], nodes: [], freedom: 0, means: nothing },
    spread: [...factors.map(() => BROAD), 0.05, 0.1, 0.2],
  };
}

/** Keeps coefficients that nothing decides near zero; 1 / variance. */
const TINY = 0.01;

/**
 * Solves the mixed model: each effect leans on the mean of its kind as much as its spread allows, a generation on its
 * model, a model on its make, and a point of a line on its neighbours. The tree is eliminated first, node by node, so that
 * only a small system is left.
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

/** Takes a node out of the system, and hands what it knows to its parent. */
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

/** Adds what is expected of the effects before any sale: each contrast of a factor is near zero, as its spread allows. */
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

/** A sum of coefficients that is near zero where the sales say nothing. */
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

/** Goes one step towards the spreads that the prices make most likely. */
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

/** A squared effect and the variance that is left of it. */
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
 * MacKay's step: effects that the prices decide count whole, those that only lean count nothing. What is usual counts as
 * some effects more, so that a few effects neither vanish nor grow at once.
 */
function evidence(variance: number, squares: readonly Square[]): { variance: number; freedom: number } {
  const sum = squares.reduce((total, [effect]) => total + effect, 0);
  const freedom = squares.reduce((total, [, left]) => total + Math.max(0, 1 - left / variance), 0);
  return { variance: (sum + PRIOR * USUAL) / (freedom + PRIOR), freedom };
}

/** The log price that a fit expects of a row. */
export function expected(fit: Fit, row: PricedRow): number {
  let sum = fit.nodes[row.model]?.effect ?? 0;
  for (let i = 0; i < row.count; i += 1)
    sum += (row.share[i] ?? 0) * (fit.coefficients[row.index[i] ?? 0] ?? 0);
  return sum;
}

/** Variance of what a fit expects of a row, without the noise of a sale. */
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
