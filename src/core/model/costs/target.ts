import { rangeOf } from './check-rows.js';
import { type CostRow, cell, sourceOf } from './columns.js';
import { centsOf, factorOf, times } from './money.js';
import { converted } from './parts.js';
import type { Destination, Schedule } from './schedule.js';

/** A car as targets ask for it. */
export interface TargetCar {
  readonly make: string | null;
  readonly model: string | null;
  readonly modelId: number | null;
  readonly year: number | null;
}

/** What a model and year brings in the market of a source and country. */
export interface MarketPrice {
  readonly source: number;
  readonly country: string;
  readonly modelId: number;
  readonly year: number;
  readonly currency: string;
  /** In units of the currency. */
  readonly median: number;
}

/** What a car may cost at most, in cents of the destination's currency, and the row that says so. */
export interface Target {
  readonly limit: number;
  readonly row: CostRow;
}

/** Finds the median of a market. */
export type MedianOf = (source: number, country: string, car: TargetCar) => MarketPrice | undefined;

/** A finder of medians among all. */
export function medianFinder(prices: readonly MarketPrice[]): MedianOf {
  const keyOf = (source: number, country: string, modelId: number | null, year: number | null): string =>
    [source, country, modelId, year].join(' ');
  const found = new Map(
    prices.map((price) => [keyOf(price.source, price.country, price.modelId, price.year), price]),
  );
  return (source, country, { modelId, year }) => found.get(keyOf(source, country, modelId, year));
}

/** What a car may cost at most at a destination; what is missing for it, as a text; undefined if no row means the car. */
export function targetOf(
  { choices, rate }: Schedule,
  car: TargetCar,
  { name, currency: ofTotal }: Destination,
  medianOf: MedianOf,
): Target | string | undefined {
  const rows = choices('targets', [])?.([name, car.make, car.model]) ?? [];
  const row = rows.find((each) => isWithin(rangeOf(each, 'year'), car.year));
  if (row === undefined) return undefined;
  const currency = cell(row, 'currency');
  const back = rate(currency, ofTotal);
  if (back === undefined) return `exchange: no rate from ${currency} to ${ofTotal}`;
  const source = cell(row, 'market_source');
  let price = centsOf(cell(row, 'price'));
  if (source !== '') {
    const country = cell(row, 'market_country');
    const median = medianOf(Number(sourceOf(source)), country, car);
    if (median === undefined)
      return `targets: too few prices of the model and year at source ${sourceOf(source)} in ${country}`;
    const into = rate(median.currency, currency);
    if (into === undefined) return `exchange: no rate from ${median.currency} to ${currency}`;
    price = converted(Math.round(median.median * 100), into);
  }
  const left = price - times(price, factorOf(cell(row, 'margin_share'))) - centsOf(cell(row, 'margin'));
  return { limit: converted(Math.max(0, left), back), row };
}

/** Whether a year lies within; a row of all years also means a car whose year is not known. */
const isWithin = ([from, to]: readonly [number, number], year: number | null): boolean =>
  year === null ? from === 0 && to === Infinity : from <= year && year < to;
