import { inverse, Matrix } from 'ml-matrix';
import { expect, it } from 'vitest';
import type { PricedRow } from '../../../src/core/model/fit/blocks.js';
import { factorsOf, LEVEL_FACTORS, sizeOf } from '../../../src/core/model/fit/design.js';
import { expected, solve, uncertainty } from '../../../src/core/model/fit/fit.js';
import { emptyGroups } from '../../../src/core/model/fit/groups.js';
import type { Spread } from '../../../src/core/model/fit/make-tree.js';
import { addSale, emptySums } from '../../../src/core/model/fit/sums.js';

const MONTHS = 4;
const factors = factorsOf(
  new Map(LEVEL_FACTORS.map((name, i) => [name, i === 0 ? ['a', 'b'] : ['a', 'b', 'c']])),
  Array.from({ length: MONTHS }, (_, i) => `2024-0${i + 1}`),
);
const size = sizeOf(factors);
// Four generations of three models of two makes.
const parents = [4, 4, 5, 6, 7, 7, 8, -1, -1];
const tree = parents.map((parent, i) => ({ parent, depth: i < 4 ? 0 : i < 7 ? 1 : 2 }));
const spread: Spread = [...factors.map((_, i) => 0.05 + i / 100), 0.02, 0.05, 0.3];
const WEIGHT = 1 / 0.03;

/** Sale `i`. Its levels, shares and price depend only on its number. */
function saleOf(i: number): PricedRow {
  const unit = (salt: number): number => (Math.sin(i * 12.9898 + salt * 78.233) * 43758.5453) % 1;
  const share = (salt: number): number => Math.abs(unit(salt));
  const terms = factors.flatMap(
    ({ offset, levels: { length: levels }, knots }, k): (readonly [number, number])[] => {
      const at = offset + Math.min(levels - 1, Math.floor(share(k) * levels));
      if (knots === undefined || at === offset + levels - 1) return [[at, 1]];
      return [
        [at, 1 - share(k + 20)],
        [at + 1, share(k + 20)],
      ];
    },
  );
  const all = [[0, 1] as const, ...terms];
  return {
    ...{ lot: i, model: i % 4, noise: 0, month: 0, logPrice: 8 + unit(50) },
    index: Int32Array.from(all, ([at]) => at),
    share: Float64Array.from(all, ([, weight]) => weight),
    count: all.length,
    segments: new Int32Array(),
    ...{ groups: new Int32Array(), times: new Float64Array() },
    ...{ logBuyNow: Number.NaN, ahead: 0 },
  };
}

/** The same model as one dense system with all effects: coefficients first, then the nodes of the tree. */
function dense(sales: readonly PricedRow[]): { mean: Matrix; covariance: Matrix } {
  const all = size + tree.length;
  const precision = Matrix.zeros(all, all);
  const right = Matrix.zeros(all, 1);
  const add = (terms: readonly (readonly [number, number])[], weight: number, value = 0): void => {
    for (const [i, a] of terms) {
      right.set(i, 0, right.get(i, 0) + weight * a * value);
      for (const [k, b] of terms) precision.set(i, k, precision.get(i, k) + weight * a * b);
    }
  };
  for (const sale of sales) add(rowOf(sale), WEIGHT, sale.logPrice);
  tree.forEach(({ parent, depth }, i) => {
    const variance = spread[factors.length + depth] ?? 0;
    add(
      parent < 0
        ? [[size + i, 1]]
        : [
            [size + i, 1],
            [size + parent, -1],
          ],
      1 / variance,
    );
  });
  for (let at = 0; at < size; at += 1) add([[at, 1]], 0.01);
  factors.forEach(({ name, offset, levels: { length: levels }, knots }, f) => {
    const weight = 1 / (spread[f] ?? 0);
    const slope = (k: number): [number, number][] => {
      const gap = (knots?.[k + 1] ?? 0) - (knots?.[k] ?? 0);
      return [
        [offset + k, -1 / gap],
        [offset + k + 1, 1 / gap],
      ];
    };
    if (knots === undefined) for (let k = 0; k < levels; k += 1) add([[offset + k, 1]], weight);
    else if (name === 'month') for (let k = 0; k < levels - 1; k += 1) add(slope(k), weight);
    else
      for (let k = 1; k < levels - 1; k += 1) {
        const width = ((knots[k + 1] ?? 0) - (knots[k - 1] ?? 0)) / 2;
        const bend = [...slope(k), ...slope(k - 1).map(([at, a]) => [at, -a] as const)];
        add(bend, weight / width);
      }
  });
  const covariance = inverse(precision);
  return { mean: covariance.mmul(right), covariance };
}

const rowOf = (sale: PricedRow): (readonly [number, number])[] => [
  ...Array.from(sale.index, (at, i) => [at, sale.share[i] ?? 0] as const),
  [size + sale.model, 1],
];

it('solves the mixed model as one dense system does', () => {
  // The last generation has no sale, so only its make informs its estimate.
  const sales = Array.from({ length: 120 }, (_, i) => saleOf(i)).filter(({ model }) => model !== 3);
  const sums = emptySums(size, 4);
  for (const sale of sales) addSale(sums, sale, WEIGHT, sale.logPrice);
  const fit = solve(sums, factors, tree, { spread, groups: emptyGroups([]) });
  const { mean, covariance } = dense(sales);
  for (const sale of Array.from({ length: 40 }, (_, i) => saleOf(i + 500))) {
    const terms = rowOf(sale);
    const sum = terms.reduce((total, [at, a]) => total + a * mean.get(at, 0), 0);
    const variance = terms.reduce(
      (total, [i, a]) => total + terms.reduce((part, [k, b]) => part + a * b * covariance.get(i, k), 0),
      0,
    );
    expect(expected(fit, sale)).toBeCloseTo(sum, 6);
    expect(uncertainty(fit, sale)).toBeCloseTo(variance, 6);
  }
});
