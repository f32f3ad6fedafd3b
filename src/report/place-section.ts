import { count, type Maybe, money, orTooFew, plural, ratio, shortRatio, wholePercent } from './format.js';
import { dotMap, LEVELS, type Level } from './map.js';
import type { Figure, Section } from './page.js';
import type { Region } from './read-market.js';
import { ranges } from './row-charts.js';

/** States that are drawn; the table has all. */
const DRAWN = 20;

/** Distance from 1 at which prices of a state are called below or above the national ones. */
const BAND = 0.05;

/** Where the lots stand, and what they bring there. */
export function placeSection(regions: readonly Region[]): Section {
  return {
    id: 'regions',
    title: 'Regions',
    lead: 'Auction lots by state. Each price is compared with the national median of the same model and model year, so that the mix of cars in a state does not show.',
    figures: [map(regions), spread(regions)],
  };
}

function map(regions: readonly Region[]): Figure {
  const title = 'Lots by state, and how their prices stand';
  const places = regions.flatMap(({ code, latitude, longitude, lots, ratio: against }) =>
    code === '' || latitude === null || longitude === null
      ? []
      : [{ name: code, latitude, longitude, lots, against, level: levelOf(against) }],
  );
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
    numbers: {
      head: ['State', '>Latitude', '>Longitude', '>Lots', '>Price against the nation'],
      rows: places.map((place) => [
        place.name,
        place.latitude.toFixed(2),
        place.longitude.toFixed(2),
        count(place.lots),
        ratio(place.against),
      ]),
    },
  };
}

function levelOf(against: Maybe): Level {
  if (against === null) return 'unknown';
  return against <= 1 - BAND ? 'below' : against >= 1 + BAND ? 'above' : 'about';
}

function medianOf({ currency, median, priced }: Region): string {
  if (currency === null) return priced === 0 ? orTooFew(null, 0, count) : 'currency not known';
  return orTooFew(median, priced, (known) => money(known, currency));
}

function spread(regions: readonly Region[]): Figure {
  const title = 'Prices by state, against the same model year in the nation';
  const rows = regions.slice(0, DRAWN);
  const numbers = {
    head: ['State', '>Lots', '>Sold', '>Median price', '>Prices compared', '>Ratio', '>Middle half'],
    rows: regions.map((region) => [
      region.name,
      count(region.lots),
      count(region.sold),
      medianOf(region),
      count(region.compared),
      orTooFew(region.ratio, region.compared, ratio),
      region.ratio === null ? ratio(null) : `${ratio(region.low)} to ${ratio(region.high)}`,
    ]),
  };
  if (regions.length === 0) return { title, words: 'No auction lot has a place yet.' };
  if (rows.every((region) => region.ratio === null))
    return { title, words: 'No state has enough prices yet that can be compared with the nation.', numbers };
  return {
    title,
    note: `The ${DRAWN} states with most lots. The dot is the median, the bar holds the middle half.`,
    chart: ranges(
      rows.map(({ name, low, ratio: middle, high, compared }) => ({
        name,
        low,
        middle,
        high,
        text: middle === null ? orTooFew(null, compared, ratio) : plural(compared, 'price'),
      })),
      {
        id: 'chart-regions',
        title,
        description: rows
          .map((region) => `${region.name}: ${orTooFew(region.ratio, region.compared, ratio)}.`)
          .join(' '),
        format: shortRatio,
        reference: 1,
        axis: 'price against the nation, which is 1',
      },
    ),
    numbers,
  };
}
