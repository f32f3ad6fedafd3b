import type { Row } from '../duck/session.js';
import {
  apart,
  count,
  currencyIn,
  label,
  money,
  orTooFew,
  plural,
  ratio,
  shortRatio,
  wholePercent,
  withFields,
} from './format.js';
import { dotMap, LEVELS, type Level } from './map.js';
import { type Figure, type Marts, numbersOf, type Section } from './page.js';
import { ranges } from './row-charts.js';

/** States that are drawn; the table has all. */
const DRAWN = 20;

/** How far a ratio is from 1 where the prices of a state are called below or above the national ones. */
const BAND = 0.05;

/** States, most lots first. */
const REGIONS = `
  select *, ${apart('country_iso, state_code')}
  from regional_prices
  where level = 'state'
  order by lots desc, country_iso nulls last, state_code nulls last, currency`;

/** A state with its name as people read it. */
type Region = Row & { readonly name: string };

/** Where the lots stand, and what they bring there. */
export async function regionSection({ ask }: Marts): Promise<Section> {
  const regions = (await ask(REGIONS)).map((row) => withFields(row, { name: nameOf(row) }));
  return {
    id: 'regions',
    title: 'Regions',
    lead: 'Auction lots by state. Each price is compared with the national median of the same model and model year, so that the mix of cars in a state does not show.',
    figures: [map(regions), spread(regions)],
  };
}

function nameOf(row: Row): string {
  const given = label(row.state_name ?? row.state_code, 30);
  // The feed writes some names of states in small letters.
  const name = given.replaceAll(/\b\p{Ll}/gu, (letter) => letter.toUpperCase());
  const country = row.country_iso === null ? 'country not given' : label(row.country_iso, 12);
  return `${given === 'not given' ? 'State not given' : name}, ${country}${currencyIn(row)}`;
}

function map(regions: readonly Region[]): Figure {
  const title = 'Lots by state, and how their prices stand';
  const places = regions
    .filter((row) => row.state_code !== null && row.latitude !== null && row.longitude !== null)
    .map((row) => ({
      name: label(row.state_code, 4),
      latitude: Number(row.latitude),
      longitude: Number(row.longitude),
      lots: Number(row.lots),
      against: row.price_ratio_median,
      level: levelOf(row.price_ratio_median),
    }));
  if (places.length < 2) return { title, words: 'Too few states have coordinates for a map.' };
  const top = regions.slice(0, 5).map(({ name, lots }) => `${name}: ${plural(lots, 'lot')}`);
  return {
    title,
    note: 'A dot lies where the lots of a state stand on average; its area is their number.',
    legend: [
      { name: `at least ${wholePercent(BAND)} below the nation`, fill: LEVELS.below, symbol: 'circle' },
      { name: 'about the same', fill: LEVELS.about, symbol: 'circle' },
      { name: `at least ${wholePercent(BAND)} above`, fill: LEVELS.above, symbol: 'circle' },
      { name: 'too few prices', fill: LEVELS.unknown, symbol: 'ring' },
    ],
    chart: dotMap(places, {
      id: 'chart-map',
      title,
      description: `Dots for ${plural(places.length, 'state')}. Most lots: ${top.join('; ')}.`,
    }),
    numbers: numbersOf(places, {
      State: ({ name }) => name,
      '>Latitude': ({ latitude }) => latitude.toFixed(2),
      '>Longitude': ({ longitude }) => longitude.toFixed(2),
      '>Lots': ({ lots }) => count(lots),
      '>Price against the nation': ({ against }) => ratio(against),
    }),
  };
}

function levelOf(against: unknown): Level {
  if (typeof against !== 'number') return 'unknown';
  return against <= 1 - BAND ? 'below' : against >= 1 + BAND ? 'above' : 'about';
}

function spread(regions: readonly Region[]): Figure {
  const title = 'Prices by state, against the same model year in the nation';
  if (regions.length === 0) return { title, words: 'No auction lot has a place yet.' };
  const rows = regions.map((row) =>
    withFields(row, {
      low: row.price_ratio_p25,
      middle: row.price_ratio_median,
      high: row.price_ratio_p75,
      values: row.compared_lots,
    }),
  );
  const numbers = numbersOf(rows, {
    State: ({ name }) => name,
    '>Lots': (row) => count(row.lots),
    '>Sold': (row) => count(row.lots_sold),
    '>Median price': medianOf,
    '>Prices compared': ({ values }) => count(values),
    '>Ratio': ({ middle, values }) => orTooFew(middle, values, ratio),
    '>Middle half': ({ low, middle, high }) =>
      middle === null ? ratio(null) : `${ratio(low)} to ${ratio(high)}`,
  });
  const drawn = rows.slice(0, DRAWN);
  if (drawn.every(({ middle }) => middle === null))
    return { title, words: 'No state has enough prices yet that can be compared with the nation.', numbers };
  return {
    title,
    note: `The ${DRAWN} states with most lots. The dot is the median, the bar holds the middle half.`,
    chart: ranges(drawn, {
      id: 'chart-regions',
      title,
      noun: 'price',
      say: ratio,
      format: shortRatio,
      reference: 1,
      axis: 'price against the nation, which is 1',
    }),
    numbers,
  };
}

function medianOf({ currency, price_median, priced_lots }: Row): string {
  if (currency === null) return priced_lots === 0 ? orTooFew(null, 0, count) : 'currency not known';
  return orTooFew(price_median, priced_lots, (known) => money(known, String(currency)));
}
