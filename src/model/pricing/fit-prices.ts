import type { DuckDBConnection } from '@duckdb/node-api';
import { literal, rows } from '../../duck/session.js';
import { type Coding, codeRows, type Market } from './code-rows.js';
import { Numbers } from './numbers.js';
import { judgeMonth, measure, pass, type State, startState, type Weighing } from './passes.js';
import { repeatSales } from './repeat-sales.js';
import { writeEffects } from './write-effects.js';
import { DRIVERS, writeEstimates } from './write-estimates.js';

/** Fewest prices from which a model is fitted, and before a month that is judged. */
const FEWEST = 100;
/** Months at the end that the back-test judges. */
const JUDGED = 6;
/** The passes of a fit from nothing, first over some SAMPLE prices, whatever their number, then over all. */
const FIRST_PASSES: readonly Weighing[] = [...Array<Weighing>(5).fill('robust'), 'alike'];
const FULL_PASSES: readonly Weighing[] = ['robust', 'alike'];
const SAMPLE = 50_000;

const INTERVALS = ['low_80', 'low_50', 'high_50', 'high_80'];

const TABLES = {
  estimates: [
    ...['market', 'lot', 'log_estimate', ...INTERVALS, 'is_left_out', 'make_weight'],
    ...Array.from({ length: DRIVERS }, (_, i) => [`driver_${i + 1}`, `driver_${i + 1}_effect`]).flat(),
  ],
  backtest: ['market', 'lot', 'log_estimate', ...INTERVALS],
  effects: ['market', 'coefficient', 'reference', 'log_effect', 'deviation', 'prices'],
  nodes: ['market', 'node', 'log_effect', 'deviation'],
  index: ['market', 'segment', 'code', 'month', 'log_level', 'deviation', 'prices'],
  repeat: ['market', 'month', 'log_level', 'deviation', 'prices'],
};

type Tables = Readonly<Record<keyof typeof TABLES, Numbers>>;

/**
 * Fits a model of the log price to the prices of each market in `price_inputs`. What it finds are tables of the database
 * `fit`, in memory, which all connections see: `markets`, `estimates`, `backtest`, `effects`, `nodes`, `index` and `repeat`, with
 * `terms`, `node_names` and `segments`, which say what their numbers stand for.
 * @param folder where a file of numbers may lie for the time of the fit
 */
export async function fitPrices(connection: DuckDBConnection, folder: string): Promise<void> {
  await connection.run(`attach if not exists ':memory:' as fit;
    create or replace table fit.terms (market double, coefficient double, factor varchar, level varchar);
    create or replace table fit.node_names (market double, node double, depth integer, make bigint, model bigint, generation bigint);
    create or replace table fit.segments (market double, segment varchar, place double, code double, level varchar);
    create or replace table fit.markets as
    select row_number() over (order by market, currency)::double as number, market, currency, min(priced_month) as first_month
    from price_inputs where price is not null group by market, currency having count(*) >= ${FEWEST}`);
  const open = (name: keyof typeof TABLES): Promise<Numbers> =>
    Numbers.create(connection, name, TABLES[name]);
  const tables: Tables = {
    ...{ estimates: await open('estimates'), backtest: await open('backtest') },
    ...{ effects: await open('effects'), nodes: await open('nodes'), index: await open('index') },
    repeat: await open('repeat'),
  };
  const markets = await rows(connection, 'from fit.markets order by number');
  for (const { number, market, currency } of markets)
    await fitMarket(
      connection,
      tables,
      Number(number),
      { market: String(market), currency: String(currency) },
      folder,
    );
  for (const table of Object.values(tables)) table.flush();
  for (const { number } of markets) await repeatSales(connection, tables.repeat, Number(number));
  for (const table of Object.values(tables)) table.close();
}

async function fitMarket(
  connection: DuckDBConnection,
  tables: Tables,
  number: number,
  market: Market,
  folder: string,
): Promise<void> {
  const coding = await codeRows(connection, market, folder);
  try {
    const state = fitAndJudge(coding, (judged) => tables.backtest.append([number, ...judged]));
    await writeEstimates(connection, coding, state, tables.estimates, tables.index, number);
    await writeEffects(connection, coding, state, tables.effects, tables.nodes, number);
  } finally {
    coding.rows.close();
  }
  await connection.run(
    `update fit.markets set first_month = ${literal(coding.firstMonth)} where number = ${number}`,
  );
}

/** Fits the prices before the months of the back-test, judges month by month, and fits all. */
function fitAndJudge(coding: Coding, tell: (judged: number[]) => void): State {
  const { months } = coding;
  const judgedFrom = firstJudged(coding);
  const before = { months: [0, judgedFrom] as const };
  const sample = { ...before, every: Math.ceil(pricesBefore(coding, judgedFrom) / SAMPLE) };
  let state = startState(coding);
  for (const weighing of FIRST_PASSES) state = pass(coding, state, weighing, sample);
  for (const weighing of FULL_PASSES) state = pass(coding, state, weighing, before);
  state = measure(coding, state, sample);
  if (judgedFrom === months) return state;
  for (let month = judgedFrom; month < months; month += 1) state = judgeMonth(coding, state, month, tell);
  const all = { every: Math.ceil(pricesBefore(coding, months) / SAMPLE) };
  return measure(coding, pass(coding, state, 'alike', {}), all);
}

/** The first month that the back-test judges; the number of months where none has enough prices before it. */
function firstJudged(coding: Coding): number {
  let month = Math.max(0, coding.months - JUDGED);
  while (month < coding.months && pricesBefore(coding, month) < FEWEST) month += 1;
  return month;
}

const pricesBefore = ({ rows: { prices } }: Coding, month: number): number =>
  prices.slice(0, month).reduce((sum, count = 0) => sum + count, 0);
