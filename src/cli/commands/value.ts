import type { DuckDBConnection } from '@duckdb/node-api';
import { doubtsOf } from '../../ask/query/doubts.js';
import { LANDED_READS, type Land, landingTo } from '../../ask/query/landed.js';
import { readLake } from '../../ask/query/open-lake.js';
import { gridOf } from '../../ask/query/table.js';
import {
  FACTORS,
  nearWords,
  VALUE_READS,
  type Value,
  valueOfCar,
  valuesOfLots,
} from '../../ask/query/valuation.js';
import type { Config } from '../../base/config/config.js';
import { count, printable, words } from '../../base/config/printable.js';
import { sourceOf } from '../../core/model/costs/columns.js';
import { command, type Lines, textOf } from '../command.js';
import { positiveNumber, wholeNumber } from '../option-values.js';
import { snapshotOptions } from '../options.js';
import { UsageError } from '../usage-error.js';

/** Estimates what a lot or car is worth. */
export const value = command({
  options: {
    id: { type: 'string', describe: 'VIN, lot number or lot id' },
    make: { type: 'string', describe: 'make, for a car without a lot' },
    model: { type: 'string', describe: 'model of the make' },
    year: { type: 'string', describe: 'model year' },
    km: { type: 'string', describe: 'odometer in kilometres' },
    damage: { type: 'string', describe: 'main damage: a group such as front, or a name of the feed' },
    title: { type: 'string', describe: 'title: a brand such as salvage, or a name of the feed' },
    to: {
      type: 'string',
      describe: 'what it costs at this destination of your tables of costs, part by part',
    },
    bid: {
      type: 'string',
      implies: 'to',
      describe: 'what it costs for this price, in the currency of the lot',
    },
    source: {
      type: 'string',
      implies: 'to',
      describe: 'number of the source where a car without a lot is bought',
    },
    state: { type: 'string', describe: 'code of the state where a car without a lot stands' },
    ...snapshotOptions,
  },
  async run(given, { signal }) {
    const { id, make, model, year, km, damage, title, to, print } = given;
    const isCar = make !== undefined && model !== undefined && year !== undefined;
    const saysCar = [make, model, year, km, damage, title, given.source, given.state].some(
      (option) => option !== undefined,
    );
    if (id === undefined ? !isCar : saysCar)
      throw new UsageError('give a VIN or lot, or a car', 'a car has --make, --model and --year at least');
    const named = to === undefined ? VALUE_READS : `${VALUE_READS} ${LANDED_READS}`;
    const reading = { named, choice: given, signal };
    const values = await readLake(given.config, reading, async ({ session: { connection } }) => {
      const land = to === undefined ? undefined : await landingAt(connection, given, to);
      if (!isCar) return valuesOfLots(connection, id ?? '', { land });
      const distance = km === undefined ? undefined : wholeNumber('--km', km, 0, 5_000_000);
      const car = { make, model, year: wholeNumber('--year', year, 1940, 2100), km: distance };
      return [await valueOfCar(connection, { ...car, damage, title, state: given.state }, { land })];
    });
    print(values, () => values.map(cardOf).join('\n\n'));
  },
});

/** What computes costs at a destination. Throws ConfigError for options that cannot be used, and as {@link landingTo} does. */
async function landingAt(
  connection: DuckDBConnection,
  {
    config,
    bid,
    source,
  }: Readonly<Record<'bid' | 'source', string | undefined>> & { readonly config: Config },
  to: string,
): Promise<Land> {
  const price = bid === undefined ? undefined : positiveNumber('--bid', bid, 100_000_000);
  const number = source === undefined ? undefined : wholeNumber('--source', sourceOf(source), 1, 1000);
  return landingTo(connection, to, { bid: price, source: number, config });
}

/** The answer for a person, a line each of what is known. */
export function cardOf(value: Value): string {
  const { drivers } = value;
  return textOf([
    printable(value.of),
    ...estimateOf(value),
    ...historyOf(value),
    ...chancesOf(value),
    value.note ?? undefined,
    ...doubtsOf(value),
    ...landedLines(value.landed),
    accuracyOf(value),
    drivers.length > 0 && 'what moves the estimate from that of the average lot:',
    ...drivers.map(
      ({ factor, amount }) =>
        `  ${signOf(amount)}${count(Math.abs(amount))}  ${FACTORS[factor.replace(/: .*/, '')] ?? words(factor)}`,
    ),
    placeOf(value),
    ...comparablesOf(value),
  ]);
}

function estimateOf({ estimate, currency, market, odds, ...value }: Value): Lines {
  if (estimate === null) return [];
  const day = odds?.auction_on ? ` of ${printable(odds.auction_on)}` : '';
  const of = market === 'asking' ? 'of the asking price' : `at auction${day}`;
  const prices = market === 'asking' ? 'such prices' : 'such prices at auction';
  return [
    `estimate ${of}: ${count(estimate)} ${currency}`,
    value.low_80 !== null &&
      `50 % of ${prices} lie from ${count(value.low_50)} to ${count(value.high_50)}, 80 % from ${count(value.low_80)} to ${count(value.high_80)}`,
  ];
}

/** How far estimates of such cars were off. */
function accuracyOf({ accuracy }: Value): string | false {
  if (accuracy === null) return false;
  const bias = Number(accuracy.bias);
  const judged =
    accuracy.basis === 'given'
      ? 'estimates shown before the sale'
      : 'estimates made again from earlier prices';
  // A market with few prices in each class has no interval.
  const inside =
    accuracy.inside_80 === null
      ? ''
      : `; ${percent(accuracy.inside_80)} of the prices lay within the interval of 80 %`;
  return `${printable(accuracy.of)}: half of ${count(accuracy.prices)} ${judged} were within ${percent(accuracy.error_median)} of the price, on the whole ${percent(Math.abs(bias))} too ${bias < 0 ? 'low' : 'high'}${inside}`;
}

/** What where and by whom a lot is sold does to its estimate; the state may be among the drivers, too. A car has a state alone. */
function placeOf({ place_factor, seller_factor }: Value): string | false {
  const shares = [
    [seller_factor === null ? 'state' : 'state and branch', place_factor],
    ['seller', seller_factor],
  ] as const;
  const moving = shares.flatMap(([name, factor]) => {
    const share = (factor ?? 1) - 1;
    return Math.abs(share) > 0.005 ? [`${name} ${signOf(share)}${percent(Math.abs(share))}`] : [];
  });
  return moving.length > 0 && `  in the estimate: ${moving.join(', ')}`;
}

/** What it costs at a destination, part by part. */
function landedLines(landed: Value['landed']): Lines {
  if (landed === undefined) return [];
  if (landed === null) return ['its costs are not known: the lake has neither a price nor an offer of it'];
  const { currency, totals, parts, missing } = landed;
  const [first, ...others] = totals;
  const own = landed.lot_currency ?? '';
  const at = (total: typeof first): string =>
    total === undefined ? '' : `${PRICES[total.at]} of ${cents(total.price)} ${own}`;
  return [
    `costs in ${printable(landed.destination)} by your tables of ${landed.day}${first === undefined ? '' : `, ${at(first)}`}:`,
    ...(landed.changed === null ? [] : [`  ${landed.changed}`]),
    parts.length > 0 &&
      gridOf(
        ['part', '>amount', `>in ${currency}`, 'row', 'note'],
        [
          ...parts.map((part) => [
            printable([part.part, part.name].filter((name) => name !== null).join(': ')),
            `${cents(part.amount)} ${part.currency}`,
            cents(part.converted),
            part.row ?? '',
            printable(part.note),
          ]),
          ...(first?.total == null ? [] : [['total', '', cents(first.total), '', '']]),
        ],
      ),
    landed.assumed !== null && `  taken as what most of them are: ${printable(landed.assumed)}`,
    ...missing.map((what) => `  missing: ${printable(what)}`),
    ...others.flatMap((total) =>
      total.total === null ? [] : [`  ${at(total)}: ${cents(total.total)} ${currency}`],
    ),
    landed.most_to_bid !== null &&
      `  the most to bid is ${cents(landed.most_to_bid)} ${own}, for a target of ${cents(landed.target)} ${currency} (${landed.target_row})`,
    landed.bid_missing !== null && `  no most to bid: ${printable(landed.bid_missing)}`,
  ];
}

/** Prices at which costs are computed, in words. */
const PRICES = {
  given: 'at a price',
  bid: 'at the bid so far',
  estimate: 'at the estimate',
  low_80: 'at the low end of the interval of 80 %',
  high_80: 'at its high end',
  buy_now: 'at Buy Now',
} as const;

/** An amount to the cent. */
const cents = (amount: number | null): string =>
  amount === null ? '' : amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

function historyOf({ price, currency, buy_now, last_sale: sale, ...value }: Value): Lines {
  const amount = sale?.amount
    ? `for ${count(sale.amount)} ${printable(sale.currency)}`
    : 'for an unknown amount';
  const how = sale?.sold_by === 'buy_now' ? 'at its Buy Now price' : 'at auction';
  const doubt =
    sale?.doubt && sale.doubt !== 'no_price'
      ? `; doubted: ${DOUBTS[String(sale.doubt)] ?? words(sale.doubt)}`
      : '';
  const share =
    value.buy_now_share === null
      ? ''
      : `; of lots sold with one at this ratio to the estimate, ${percent(value.buy_now_share)} went for it`;
  const own = value.is_currency_known ? currency : '(its currency is not known)';
  return [
    sale !== null &&
      `last sold on ${printable(sale.sold_on)} ${how} ${amount} (${printable(sale.source)})${doubt}`,
    price !== null && price !== sale?.amount && `price ${count(price)} ${own}`,
    buy_now !== null && `Buy Now price ${count(buy_now)} ${own}${share}`,
  ];
}

function chancesOf({ odds, days }: Value): Lines {
  const by = (day: 30 | 60): string => {
    const most = days?.[`sold_${day}_at_most`];
    const bound = typeof most === 'number' ? `, at most ${percent(most)} if those that left were sold` : '';
    return `${percent(days?.[`sold_${day}`])} by day ${day}${range(days?.[`sold_${day}_low`], days?.[`sold_${day}_high`])}${bound}`;
  };
  const known = ([30, 60] as const).filter((day) => typeof days?.[`sold_${day}`] === 'number');
  return [
    typeof odds?.sell_probability === 'number' &&
      `sells at its next auction with a chance of ${percent(odds.sell_probability)}${range(odds.sell_probability_low, odds.sell_probability_high)}`,
    known.length > 0 &&
      `of all lots like it (${printable(days?.of)}), sold since they were listed: ${known.map(by).join('; ')}`,
  ];
}

function comparablesOf(value: Value): Lines {
  const { currency, comparable_sales: sales } = value;
  if (sales.length === 0) return [nearWords(value)];
  const isDoubted = sales.some(({ doubt }) => doubt !== null);
  const columns = ['year', '>km', 'damage', 'title', '>price', '>for this car', 'priced on', 'link'];
  const cells = sales.map((sale) => [
    ...[printable(sale.year), count(sale.km), printable(sale.damage), printable(sale.title)],
    ...[count(sale.price), count(sale.adjusted_price), printable(sale.sold_on)],
    printable(sale.link ?? `${sale.source} ${sale.lot}`),
    ...(isDoubted ? [words(sale.doubt)] : []),
  ]);
  return [
    nearWords(value),
    `in ${currency}; for this car: their price adjusted to this car`,
    gridOf(isDoubted ? [...columns, 'doubted'] : columns, cells),
  ];
}

/** Why a price is doubted (price_doubts), where its name says little. */
const DOUBTS: Readonly<Record<string, string>> = {
  one_dollar: 'one dollar is a placeholder',
  left_out_by_fit: 'far from the estimate',
  ten_times_estimate: 'ten times the estimate, or a tenth of it',
  hundred_times_entry: 'a hundred times another amount of the lot',
};

const signOf = (amount: number): string => (amount < 0 ? '−' : '+');

const percent = (share: unknown): string => `${(100 * Number(share)).toFixed(1)} %`;

const range = (low: unknown, high: unknown): string =>
  typeof low === 'number' && typeof high === 'number' ? ` (${percent(low)} to ${percent(high)})` : '';
