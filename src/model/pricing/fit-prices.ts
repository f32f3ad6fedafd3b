import type { DuckDBConnection } from '@duckdb/node-api';
import { literal, row, rows } from '../../duck/session.js';
import { type Coding, codeRows, type Market } from './code-rows.js';
import { type Factor, REFERENCES, SEGMENTS, sizeOf } from './design.js';
import { broadSpread, expected, type Fit, type Spread, solve, uncertainty } from './fit.js';
import { Numbers } from './numbers.js';
import { Quantiles } from './quantiles.js';
import { eachRow, type PricedRow } from './rows.js';
import { addSale, emptySums, type Sums } from './sums.js';

/** Fewest prices of a market from which a model is fitted. */
const FEWEST = 100;
/** Months that the back-test judges. */
const JUDGED = 6;
/** A price further than this many standard deviations from its estimate is not used. */
const FARTHEST = 5;
/** Degrees of freedom of Student's t for the first, robust passes. */
const FREEDOM = 4;
/** Passes over the prices of a fit from nothing: from robust weights to all prices but those that are far off. */
const PASSES = ['t', 't', 't', 't', 't', 'all', 'all'] as const;
const DRIVERS = 5;

type Weighing = (typeof PASSES)[number];

/** A fit with the noise of the prices about it. */
interface State {
  readonly fit: Fit | undefined;
  readonly sums: Sums;
  readonly spread: Spread;
  /** Variance of a log price about its expectation, by class of noise. */
  readonly noise: readonly number[];
  /** How far prices lie from their expectation, in standard deviations. */
  readonly quantiles: Quantiles;
  /** The log price that is expected where there is no fit. */
  readonly middle: number;
}

const OUTPUTS = {
  estimates: [
    ...[
      'market',
      'lot',
      'log_estimate',
      'low_80',
      'low_50',
      'high_50',
      'high_80',
      'is_left_out',
      'make_weight',
    ],
    ...Array.from({ length: DRIVERS }, (_, i) => [`driver_${i + 1}`, `driver_${i + 1}_effect`]).flat(),
  ],
  backtest: ['market', 'lot', 'month', 'log_estimate', 'low_80', 'low_50', 'high_50', 'high_80'],
  effects: ['market', 'coefficient', 'reference', 'log_effect', 'deviation', 'sales'],
  nodes: ['market', 'node', 'log_effect', 'deviation'],
  index: ['market', 'segment', 'code', 'month', 'log_level', 'deviation', 'sales'],
} as const;

type Outputs = Readonly<Record<keyof typeof OUTPUTS, Numbers>>;

/**
 * Fits a model of the log price to the prices of each market in `price_inputs`, and leaves what it found as temporary
 * tables of the connection: `fit.markets`, `fit_estimates`, `fit_backtest`, `fit_effects`, `fit_nodes`, `fit_index`, and
 * `fit.terms`, `fit.node_names`, `fit.segments`, which say what their numbers stand for.
 */
export async function fitPrices(connection: DuckDBConnection): Promise<void> {
  await connection.run(`attach if not exists ':memory:' as fit`);
  const outputs = await openOutputs(connection);
  await connection.run(`create or replace table fit.terms (market double, coefficient double, factor varchar, level varchar);
    create or replace table fit.node_names (market double, node double, depth integer, make bigint, model bigint, generation bigint);
    create or replace table fit.segments (market double, segment varchar, place double, code double, level varchar);
    create or replace table fit.markets as
    select row_number() over (order by market, currency)::double as number, * from (
      select market, currency, count(price) as prices,
        null::date as first_month
      from price_inputs where currency is not null group by market, currency having count(price) >= ${FEWEST})`);
  for (const { number, market, currency } of await rows(
    connection,
    'select * from fit.markets order by number',
  ))
    await fitMarket(connection, outputs, Number(number), {
      market: String(market),
      currency: String(currency),
    });
  for (const output of Object.values(outputs)) output.close();
  await connection.run('drop table if exists fit.rows; drop table if exists fit.inputs;');
}

async function openOutputs(connection: DuckDBConnection): Promise<Outputs> {
  const open = (name: keyof typeof OUTPUTS): Promise<Numbers> =>
    Numbers.create(connection, name, OUTPUTS[name]);
  return {
    estimates: await open('estimates'),
    backtest: await open('backtest'),
    effects: await open('effects'),
    nodes: await open('nodes'),
    index: await open('index'),
  };
}

async function fitMarket(
  connection: DuckDBConnection,
  outputs: Outputs,
  number: number,
  market: Market,
): Promise<void> {
  const coding = await codeRows(connection, market);
  const start = await startState(connection, coding);
  const priced = 'log_price is not null';
  const judged = await firstJudged(connection, coding);
  let state = start;
  for (const weighing of PASSES)
    state = await pass(connection, coding, state, weighing, `${priced} and month < ${judged}`);
  for (let month = judged; month < coding.months; month += 1)
    state = await judge(connection, coding, state, month, (values) =>
      outputs.backtest.append([number, ...values]),
    );
  if (judged < coding.months)
    for (const weighing of PASSES.slice(-2)) state = await pass(connection, coding, state, weighing, priced);
  await writeEstimates(connection, coding, state, number, outputs);
  await writeEffects(connection, coding, state, number, outputs);
}

async function startState(connection: DuckDBConnection, { factors, tree, noises }: Coding): Promise<State> {
  const all = await row(
    connection,
    'select median(log_price) as middle, var_pop(log_price) as noise from fit.rows where log_price is not null',
  );
  return {
    fit: undefined,
    sums: emptySums(sizeOf(factors), tree.depths.filter((depth) => depth === 0).length),
    spread: broadSpread(factors),
    noise: Array<number>(noises).fill(Math.max(1e-4, Number(all.noise))),
    quantiles: new Quantiles(noises),
    middle: Number(all.middle),
  };
}

/** The first month of the back-test; the number of months where there are too few prices before any of them. */
async function firstJudged(connection: DuckDBConnection, { months }: Coding): Promise<number> {
  const before = await row(
    connection,
    `select coalesce(min(month), ${months}) as month from (
      select distinct month, count(log_price) over (order by month groups unbounded preceding exclude group) as prices
      from fit.rows where log_price is not null)
    where prices >= ${FEWEST} and month >= ${months - JUDGED}`,
  );
  return Number(before.month);
}

/** What a state expects of the log price of a row. */
const expectedOf = ({ fit, middle }: State, priced: PricedRow): number =>
  fit === undefined ? middle : expected(fit, priced);

/** Weighs all prices by the last state, and fits again. */
async function pass(
  connection: DuckDBConnection,
  { factors, tree, noises }: Coding,
  last: State,
  weighing: Weighing,
  where: string,
): Promise<State> {
  const sums = emptySums(sizeOf(factors), last.sums.leaves.length);
  const quantiles = new Quantiles(noises);
  const [squares, weights] = [new Float64Array(noises), new Float64Array(noises)];
  await eachRow(connection, where, (priced) => {
    const variance = last.noise[priced.noise] ?? 1;
    const error = priced.logPrice - expectedOf(last, priced);
    const square = error ** 2 / variance;
    if (weighing === 'all' && last.fit !== undefined) {
      const leverage = Math.min(0.99, uncertainty(last.fit, priced) / variance);
      quantiles.add(priced.noise, error / Math.sqrt(variance * (1 - leverage)));
    }
    const weight =
      weighing === 't'
        ? last.fit === undefined
          ? 1
          : (FREEDOM + 1) / (FREEDOM + square)
        : square < FARTHEST ** 2
          ? 1
          : 0;
    squares[priced.noise] = (squares[priced.noise] ?? 0) + weight * error ** 2;
    weights[priced.noise] = (weights[priced.noise] ?? 0) + weight;
    addSale(sums, priced, weight / variance);
  });
  const fit = solve(sums, factors, tree, last.spread);
  const noise =
    last.fit === undefined ? last.noise.map(() => 0.1) : noiseOf(squares, weights, last.fit.freedom);
  return { fit, sums, spread: fit.spread, noise, quantiles, middle: last.middle };
}

/** Variance by class, corrected for the coefficients that were fitted; small classes lean on all. */
function noiseOf(squares: Float64Array, weights: Float64Array, freedom: number): number[] {
  const total = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0);
  const correction = total(weights) / Math.max(total(weights) - freedom, total(weights) / 4);
  const all = (correction * total(squares)) / total(weights);
  const LEAN = 30;
  return [...squares].map((square, i) =>
    Math.max(1e-4, (correction * square + LEAN * all) / ((weights[i] ?? 0) + LEAN)),
  );
}

/** Judges the prices of a month by a fit that has seen only those before it, then adds them to it. */
async function judge(
  connection: DuckDBConnection,
  { factors, tree }: Coding,
  last: State,
  month: number,
  tell: (values: number[]) => void,
): Promise<State> {
  const { fit, sums, noise, quantiles } = last;
  if (fit === undefined) return last;
  const distances = noise.map((_, member) => quantiles.of(member));
  await eachRow(connection, `log_price is not null and month = ${month}`, (priced) => {
    const middle = expected(fit, priced);
    const variance = noise[priced.noise] ?? 1;
    const deviation = Math.sqrt(variance + uncertainty(fit, priced));
    tell([priced.lot, month, ...around(middle, deviation, distances[priced.noise] ?? [])]);
    const distance = (priced.logPrice - middle) / deviation;
    quantiles.add(priced.noise, distance);
    addSale(sums, priced, Math.abs(distance) < FARTHEST ? 1 / variance : 0);
  });
  const next = solve(sums, factors, tree, last.spread);
  return { ...last, fit: next, spread: next.spread };
}

/** An estimate with its intervals, as prices. */
const around = (middle: number, deviation: number, distances: readonly number[]): number[] => [
  middle,
  ...distances.map((distance) => Math.exp(middle + distance * deviation)),
];

/** Estimates every lot; one with a price as if its own price were not known. Adds up the index beside. */
async function writeEstimates(
  connection: DuckDBConnection,
  { factors, tree, firstMonth }: Coding,
  { fit, noise, quantiles }: State,
  number: number,
  outputs: Outputs,
): Promise<void> {
  if (fit === undefined) return;
  const factorOf = factors.flatMap((factor, i) => Array<number>(factor.size).fill(i));
  const means = factors.map(({ offset, size }) => {
    let sum = 0;
    for (let at = offset; at < offset + size; at += 1)
      sum += (fit.means[at] ?? 0) * (fit.coefficients[at] ?? 0);
    return sum;
  });
  const monthFactor = factors.find(({ name }) => name === 'month');
  const distances = noise.map((_, member) => quantiles.of(member));
  const levels = new Map<string, { weight: number; price: number; sales: number }>();
  const makeOf = (leaf: number): number => tree.parents[tree.parents[leaf] ?? -1] ?? -1;
  await eachRow(connection, 'true', (priced) => {
    const middle = expected(fit, priced);
    const variance = noise[priced.noise] ?? 1;
    const unsure = uncertainty(fit, priced);
    const error = priced.logPrice - middle;
    const isLeftOut = error ** 2 > FARTHEST ** 2 * variance;
    const isUsed = !Number.isNaN(error) && !isLeftOut;
    const leverage = Math.min(0.99, unsure / variance);
    const alone = isUsed ? priced.logPrice - error / (1 - leverage) : middle;
    const deviation = Math.sqrt(isUsed ? variance / (1 - leverage) : variance + unsure);
    const effects = means.map((mean) => -mean);
    const touched = Array<number>(factors.length).fill(0);
    for (let i = 1; i < priced.count; i += 1) {
      const at = priced.index[i] ?? 0;
      const factor = factorOf[at - 1] ?? 0;
      effects[factor] = (effects[factor] ?? 0) + (priced.share[i] ?? 0) * (fit.coefficients[at] ?? 0);
      touched[factor] ||= at;
    }
    const drivers = [...effects.keys()]
      .sort((a, b) => Math.abs(effects[b] ?? 0) - Math.abs(effects[a] ?? 0) || a - b)
      .slice(0, DRIVERS)
      .flatMap((factor) => [touched[factor] || (factors[factor]?.offset ?? 0), effects[factor] ?? 0]);
    outputs.estimates.append([
      ...[number, priced.lot, ...around(alone, deviation, distances[priced.noise] ?? []), isLeftOut ? 1 : 0],
      ...[fit.nodes[makeOf(priced.model)]?.weight ?? 0, ...drivers],
    ]);
    if (!isUsed || monthFactor === undefined) return;
    const level = error + (fit.coefficients[monthFactor.offset + priced.month] ?? 0);
    for (let segment = -1; segment < SEGMENTS.length; segment += 1) {
      const key = `${segment} ${segment < 0 ? 0 : priced.segments[segment]} ${priced.month}`;
      const sum = levels.get(key) ?? { weight: 0, price: 0, sales: 0 };
      levels.set(key, sum);
      sum.weight += 1 / variance;
      sum.price += level / variance;
      sum.sales += 1;
    }
  });
  for (const [key, { weight, price, sales }] of levels)
    outputs.index.append([
      number,
      ...key.split(' ').map(Number),
      price / weight,
      Math.sqrt(1 / weight),
      sales,
    ]);
  await connection.run(`
    insert into fit.segments select ${number}, factor, list_position([${SEGMENTS.map(literal)}], factor) - 1, code, level
      from fit.levels where factor in (${SEGMENTS.map(literal)});
    update fit.markets set first_month = date ${literal(firstMonth)} where number = ${number}`);
}

async function writeEffects(
  connection: DuckDBConnection,
  { factors, tree, firstMonth }: Coding,
  { fit, sums }: State,
  number: number,
  outputs: Outputs,
): Promise<void> {
  if (fit === undefined) return;
  const known = await rows(connection, 'select factor, level, code from fit.levels');
  for (const factor of factors) {
    const levels = labelsOf(factor, known, firstMonth);
    const reference = referenceOf(factor, levels, sums.counts);
    const values = levels.map(
      (level, i) => `(${number}, ${factor.offset + i}, ${literal(factor.name)}, ${literal(level)})`,
    );
    await connection.run(`insert into fit.terms values ${values.join(', ')}`);
    for (let at = factor.offset; at < factor.offset + factor.size; at += 1) {
      const change = (fit.coefficients[at] ?? 0) - (fit.coefficients[reference] ?? 0);
      const { covariance: c } = fit;
      const variance = c.get(at, at) + c.get(reference, reference) - 2 * c.get(at, reference);
      outputs.effects.append([
        number,
        at,
        reference,
        change,
        Math.sqrt(Math.max(0, variance)),
        sums.counts[at] ?? 0,
      ]);
    }
  }
  await connection.run(`insert into fit.node_names
    select ${number}, leaf, 0, make, model, generation from fit.leaves
    union all select distinct ${number}, (select count(*) from fit.leaves) + model_place, 1, make, model, null from fit.leaves
    union all select distinct ${number}, (select count(*) + max(model_place) + 1 from fit.leaves) + make_place, 2, make, null, null from fit.leaves`);
  for (const [node, { effect, variance, follows, weight }] of fit.nodes.entries())
    if (weight > 0)
      outputs.nodes.append([number, node, effect, Math.sqrt(variance), follows.length > 0 ? 0 : 0]);
  void tree;
}

function labelsOf(
  { name, knots }: Factor,
  known: readonly Readonly<Record<string, unknown>>[],
  firstMonth: string,
): string[] {
  if (name === 'mileage') return (knots ?? []).map((knot) => String(knot * 10_000));
  if (name === 'month')
    return (knots ?? []).map((knot) => {
      const month = new Date(firstMonth);
      month.setUTCMonth(month.getUTCMonth() + knot);
      return month.toISOString().slice(0, 7);
    });
  if (knots !== undefined) return knots.map(String);
  return known
    .filter(({ factor }) => factor === name)
    .sort((a, b) => Number(a.code) - Number(b.code))
    .map(({ level }) => String(level));
}

/** The coefficient with which those of a factor are compared. */
function referenceOf(
  { name, offset, size }: Factor,
  levels: readonly string[],
  counts: Float64Array,
): number {
  const named = levels.indexOf(REFERENCES[name] ?? '');
  if (named >= 0) return offset + named;
  const places = Array.from({ length: size }, (_, i) => offset + i);
  return places.reduce((best, at) => ((counts[at] ?? 0) > (counts[best] ?? 0) ? at : best), offset);
}
