import type { DuckDBConnection } from '@duckdb/node-api';
import { openNumbers } from '../append-numbers.js';
import { type Coding, codeRows, FEWEST, type Market, nameNumbers } from './code-rows.js';
import { judgeMonth, measure, type Pass, pass, type State, startState, withoutUseless } from './passes.js';
import { repeatSales } from './repeat-sales.js';
import type { Visit } from './rows.js';
import { DRIVERS, writeEffects, writeEstimates } from './write-fit.js';

/** Number of last months that the back-test judges. */
const JUDGED = 6;
/** Passes of the first fit over a sample of prices. Every second one also fits the groups, which takes a second reading. */
const FIRST_PASSES: readonly Pass[] = [
  ['all'],
  ['robust', 'groups'],
  ['robust'],
  ['robust', 'groups'],
  ['robust'],
  ['alike', 'groups'],
];
/** With so many times the prices of the last fit, the next judged month gets a new one, which knows noise and spreads better. */
const MUCH_MORE = 1.3;
/** Number of prices in the sample, whatever the number of all. */
const SAMPLE = 50_000;

const INTERVALS = ['low_80', 'low_50', 'high_50', 'high_80'];

/** Columns of the tables that a fit writes, after the number of the market. A column without a type is a number. */
const TABLES = {
  estimates: [
    ...[
      'lot',
      'log_estimate',
      ...INTERVALS,
      'is_left_out utinyint',
      'make_weight',
      'buy_now_share',
      'place',
      'seller',
    ],
    ...Array.from({ length: DRIVERS }, (_, i) => [
      `driver_${i + 1} usmallint`,
      `driver_${i + 1}_effect`,
    ]).flat(),
    'prices_below',
    'widened',
  ],
  backtest: ['lot', 'log_estimate', ...INTERVALS],
  effects: [
    'coefficient',
    'reference',
    'factor varchar',
    'level varchar',
    'log_effect',
    'deviation',
    'prices',
  ],
  group_effects: ['kind', 'code', 'log_effect', 'deviation'],
  gains: ['kind', 'gain'],
  nodes: ['node', 'log_effect', 'deviation'],
  index: ['segment', 'code', 'month', 'log_level', 'deviation', 'prices'],
  repeat: ['month', 'log_level', 'deviation', 'prices'],
};

/**
 * Fits a model of the log price to the prices of each market in `price_inputs`. The results are tables of the database
 * `fit`, which is in memory and open to all connections: `estimates`, `backtest`, `effects`, `group_effects`, `gains`, `nodes`,
 * `index` and `repeat`. The tables `markets`, `node_names`, `groups` and `segments` have the meaning of their numbers.
 * @param folder for a file of numbers, which exists as long as the fit runs
 */
export async function fitPrices(connection: DuckDBConnection, folder: string): Promise<void> {
  await connection.run("attach if not exists ':memory:' as fit");
  for (const [name, columns] of Object.entries(TABLES)) {
    const list = ['market', ...columns].map((column) => (column.includes(' ') ? column : `${column} double`));
    await connection.run(`create or replace table fit.${name} (${list.join(', ')})`);
  }
  const markets = await nameNumbers(connection);
  for (const market of markets) await fitMarket(connection, market, folder);
  await repeatSales(connection, markets);
}

async function fitMarket(connection: DuckDBConnection, market: Market, folder: string): Promise<void> {
  const coding = await codeRows(connection, market, folder);
  try {
    const backtest = await openNumbers(connection, 'fit.backtest', market.number);
    const state = fitAndJudge(coding, backtest.append);
    backtest.close();
    await writeEstimates(connection, coding, state, market);
    await writeEffects(connection, coding, state, market.number);
  } finally {
    coding.rows.close();
  }
}

/** Fits the prices before the back-test, judges its months one by one, and fits all prices. */
function fitAndJudge(coding: Coding, append: (judged: number[]) => void): State {
  const { months, rows } = coding;
  const judgedFrom = firstJudged(coding);
  let state = startState(coding);
  const sample = sampleOf(coding, judgedFrom);
  for (const each of FIRST_PASSES) state = pass(coding, state, each, sample);
  state = fitBefore(coding, state, judgedFrom);
  if (judgedFrom === months) return state;
  let fitted = pricesBefore(coding, judgedFrom);
  for (let month = judgedFrom; month < months; month += 1) {
    const before = pricesBefore(coding, month);
    if (before > MUCH_MORE * fitted) {
      state = fitBefore(coding, state, month);
      fitted = before;
    }
    state = judgeMonth(coding, state, month, append);
  }
  const useful = { ...state, fit: withoutUseless(state) };
  return measure(
    coding,
    pass(coding, useful, ['alike', 'groups'], rows.priced([0, months])),
    sampleOf(coding, months),
  );
}

/** Fits all prices before a month, and measures how far they are off. */
function fitBefore(coding: Coding, last: State, month: number): State {
  const state = pass(coding, last, ['alike', 'groups'], coding.rows.priced([0, month]));
  return measure(coding, state, sampleOf(coding, month));
}

/** A sample of the prices before a month. */
const sampleOf = (coding: Coding, month: number): Visit =>
  coding.rows.sample([0, month], Math.ceil(pricesBefore(coding, month) / SAMPLE));

/** The first month that the back-test judges; the number of months if none has enough prices before it. */
function firstJudged(coding: Coding): number {
  let month = Math.max(0, coding.months - JUDGED);
  while (month < coding.months && pricesBefore(coding, month) < FEWEST) month += 1;
  return month;
}

const pricesBefore = ({ rows: { prices } }: Coding, month: number): number =>
  prices.slice(0, month).reduce((sum, count = 0) => sum + count, 0);
