import type { PricedRow } from './blocks.js';
import { GROUPS } from './design.js';
import { evidence, type Square } from './evidence.js';
import type { Visit } from './rows.js';

/** The effects that lots of one group have in common, for each of GROUPS by code. */
export interface GroupEffects {
  readonly effect: readonly Float64Array[];
  /** Variance of each effect. */
  readonly variance: readonly Float64Array[];
  /** Variance of the effects of a kind about 0, of which a lot without a known group has one. */
  readonly spread: readonly number[];
  /** What the effects of a kind are drawn from. */
  readonly priors: readonly Prior[];
  /** Effective number of effects that the prices determine. */
  readonly freedom: number;
  /** What the groups of a kind are within, by code. */
  readonly parents: readonly Int32Array[];
}

/**
 * The effects of a kind are drawn from two normal distributions about 0, a narrow one and a wide one: most branches sell alike,
 * and a few far below the others. With one spread for all, the many would shrink the few.
 */
interface Prior {
  readonly narrow: number;
  readonly wide: number;
  /** Share of effects that are drawn from the wide one. */
  readonly share: number;
}

/**
 * The spreads of a kind before they are known, 1 and 10 %. Each counts as some effects. If the narrow one began broad, the groups
 * would fit the noise.
 */
const NARROW = { usual: 0.0001, prior: 5 };
const WIDE = { usual: 0.01, prior: 2 };
/** The share of wide effects before it is known. */
const FEW = { usual: 0.03, prior: 5 };
const ASSUMED: Prior = { narrow: NARROW.usual, wide: WIDE.usual, share: FEW.usual };

const varianceOf = ({ narrow, wide, share }: Prior): number => (1 - share) * narrow + share * wide;

/** Rounds over all kinds after a pass: lots share groups, so that the effects of one kind depend on those of the others. */
const ROUNDS = 8;

/**
 * No effects.
 * @param parents for each of GROUPS, the number of what its groups are within, by code
 */
export function emptyGroups(parents: readonly Int32Array[]): GroupEffects {
  return {
    effect: parents.map(({ length }) => new Float64Array(length)),
    variance: parents.map(({ length }) => new Float64Array(length)),
    spread: parents.map(() => varianceOf(ASSUMED)),
    priors: parents.map(() => ASSUMED),
    parents,
    freedom: 0,
  };
}

/** What the group of one of GROUPS adds to the logarithm of the price of a lot. */
export function groupOf({ effect }: GroupEffects, { groups, times }: PricedRow, kind: number): number {
  const group = groups[kind] ?? -1;
  return group < 0 ? 0 : (effect[kind]?.[group] ?? 0) * (times[kind] ?? 0);
}

/** What the groups of a lot add to the logarithm of its price. */
export function groupsOf(effects: GroupEffects, row: PricedRow): number {
  let sum = 0;
  for (let kind = 0; kind < GROUPS.length; kind += 1) sum += groupOf(effects, row, kind);
  return sum;
}

/**
 * Variance of what the groups of a lot add. Groups within a model share its prices, so that together they are as well known as
 * the one with the fewest prices; those of other kinds add up.
 */
export function groupsVariance({ variance, spread }: GroupEffects, { groups, times }: PricedRow): number {
  let sum = 0;
  let [together, least] = [0, Number.POSITIVE_INFINITY];
  for (let i = 0; i < GROUPS.length; i += 1) {
    const group = groups[i] ?? -1;
    const usual = spread[i] ?? 0;
    if (usual === 0) continue;
    const own = group >= 0 ? (variance[i]?.[group] ?? 0) : usual;
    if (group < 0 || IN_MODEL[i] !== true) sum += own * (times[i] ?? 0) ** 2;
    else {
      together += usual;
      // The weight of the prices of the group.
      least = Math.min(least, 1 / own - 1 / usual);
    }
  }
  return together === 0 ? sum : sum + 1 / (Math.max(0, least) + 1 / together);
}

const IN_MODEL = GROUPS.map(({ key, within }) => within === true && key[0] === 'model_id');

/** The prices of a fit as their groups see them, column by column. */
interface Seen {
  readonly error: Float64Array;
  readonly weight: Float64Array;
  readonly group: readonly Int32Array[];
  readonly times: readonly Float64Array[];
}

/**
 * Fits the effects of the groups to what the other effects leave of the prices, kind by kind, in some rounds.
 * @param count number of prices
 * @param errorOf what the fit with the last groups leaves of a price
 * @param weightOf 1 / variance of the price; 0 to leave it out
 */
export function fitGroups(
  last: GroupEffects,
  prices: Visit,
  count: number,
  errorOf: (row: PricedRow) => number,
  weightOf: (row: PricedRow, error: number) => number,
): GroupEffects {
  const used = last.effect.map((effect) => effect.length > 0);
  const seen: Seen = {
    error: new Float64Array(count),
    weight: new Float64Array(count),
    group: used.map((is) => new Int32Array(is ? count : 0)),
    times: GROUPS.map(({ times }) => new Float64Array(times === undefined ? 0 : count)),
  };
  let at = 0;
  prices((row) => {
    const error = errorOf(row);
    seen.error[at] = error;
    seen.weight[at] = weightOf(row, error);
    for (let i = 0; i < GROUPS.length; i += 1) {
      const [group, times] = [seen.group[i], seen.times[i]];
      if (group !== undefined && group.length > 0) group[at] = row.groups[i] ?? -1;
      if (times !== undefined && times.length > 0) times[at] = row.times[i] ?? 0;
    }
    at += 1;
  });
  const effect = last.effect.map((values) => values.slice());
  const variance = last.variance.map((values) => values.slice());
  const priors = [...last.priors];
  const freedoms = effect.map(() => 0);
  const weights = effect.map((values, kind) => sumsOf(seen, kind, values.length));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [kind, own] of effect.entries()) {
      const weight = weights[kind];
      if (own.length === 0 || weight === undefined) continue;
      const left = sumsOf(seen, kind, own.length, seen.error);
      const before = own.slice();
      const learnt = settle(weight, left, own, variance[kind] ?? own, priors[kind] ?? ASSUMED);
      if (GROUPS[kind]?.within) center(own, weight, last.parents[kind] ?? new Int32Array());
      takeOff(
        seen,
        kind,
        own.map((effect, code) => effect - (before[code] ?? 0)),
      );
      priors[kind] = learnt.prior;
      freedoms[kind] = learnt.freedom;
    }
  const freedom = freedoms.reduce((sum, each) => sum + each, 0);
  const spread = priors.map((prior, kind) => (last.spread[kind] === 0 ? 0 : varianceOf(prior)));
  return { effect, variance, spread, priors, freedom, parents: last.parents };
}

/** Sums by group of a kind: of the values of its prices, or else of their slopes, times slope and weight. */
function sumsOf(
  { weight, group, times }: Seen,
  kind: number,
  size: number,
  values?: Float64Array,
): Float64Array {
  const sums = new Float64Array(size);
  const [groups, slopes] = [group[kind] ?? new Int32Array(), times[kind] ?? new Float64Array()];
  for (let at = 0; at < groups.length; at += 1) {
    const own = groups[at] ?? -1;
    if (own < 0) continue;
    const slope = slopes.length > 0 ? (slopes[at] ?? 0) : 1;
    const value = values === undefined ? slope : (values[at] ?? 0);
    sums[own] = (sums[own] ?? 0) + (weight[at] ?? 0) * slope * value;
  }
  return sums;
}

/**
 * Sets the effects of a kind and their variances; returns the prior that is most likely now.
 * @param weight sums of weights
 * @param left sums of what the prices leave beside all effects, weighted
 */
function settle(
  weight: Float64Array,
  left: Float64Array,
  effect: Float64Array,
  variance: Float64Array,
  { narrow, wide, share }: Prior,
) {
  const [ofNarrow, ofWide]: [Square[], Square[]] = [[], []];
  let drawnWide = 0;
  for (let own = 0; own < effect.length; own += 1) {
    const weights = weight[own] ?? 0;
    const sum = (left[own] ?? 0) + weights * (effect[own] ?? 0);
    const near = drawn(weights, sum, narrow);
    const far = drawn(weights, sum, wide);
    const isWide = 1 / (1 + ((1 - share) / share) * Math.exp(near.log - far.log));
    const mean = (1 - isWide) * near.mean + isWide * far.mean;
    effect[own] = mean;
    variance[own] =
      (1 - isWide) * (near.variance + near.mean ** 2) + isWide * (far.variance + far.mean ** 2) - mean ** 2;
    ofNarrow.push([near.mean ** 2, near.variance, 1 - isWide]);
    ofWide.push([far.mean ** 2, far.variance, isWide]);
    drawnWide += isWide;
  }
  const [first, second] = [evidence(narrow, ofNarrow, NARROW), evidence(wide, ofWide, WIDE)];
  return {
    prior: {
      narrow: first.variance,
      wide: second.variance,
      share: (drawnWide + FEW.prior * FEW.usual) / (effect.length + FEW.prior),
    },
    freedom: first.freedom + second.freedom,
  };
}

/** An effect if it is drawn with a spread: its mean and variance, and the logarithm of how likely that makes its prices. */
function drawn(weight: number, sum: number, spread: number) {
  const variance = 1 / (weight + 1 / spread);
  const mean = variance * sum;
  return { mean, variance, log: (mean * sum - Math.log(spread / variance)) / 2 };
}

/**
 * Takes the mean of the effects within each parent off them, by their weights. Means are updated group by group, so that
 * the effect of the only group of a parent becomes exactly 0: the back-test must not judge what rounding leaves of it.
 */
function center(effect: Float64Array, weight: Float64Array, parents: Int32Array): void {
  const means = new Float64Array(effect.length);
  const weights = new Float64Array(effect.length);
  for (const [code, parent] of parents.entries()) {
    const own = weight[code] ?? 0;
    if (own === 0) continue;
    const [sum, mean] = [(weights[parent] ?? 0) + own, means[parent] ?? 0];
    weights[parent] = sum;
    means[parent] = mean + (own / sum) * ((effect[code] ?? 0) - mean);
  }
  for (const [code, parent] of parents.entries()) effect[code] = (effect[code] ?? 0) - (means[parent] ?? 0);
}

/** Takes the changes of effects off what is left of the prices. */
function takeOff({ error, group, times }: Seen, kind: number, change: Float64Array): void {
  const [groups, slopes] = [group[kind] ?? new Int32Array(), times[kind] ?? new Float64Array()];
  for (let at = 0; at < groups.length; at += 1) {
    const own = groups[at] ?? -1;
    if (own < 0) continue;
    const slope = slopes.length > 0 ? (slopes[at] ?? 0) : 1;
    error[at] = (error[at] ?? 0) - slope * (change[own] ?? 0);
  }
}
