import { bars, lines, panels, ranges } from './charts.js';
import { count, days, list, month, orTooFew, percent, plural, ratio, usd, wholePercent } from './format.js';
import { type Figure, legendOf, type Section } from './page.js';
import type { Attempt, Waiting } from './read-lots.js';
import type { Kind, SellThroughPoint, TrendPoint } from './read-market.js';

const PRICES = 'Prices are US dollars, what the lots were sold for.';

const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** Prices of the most traded models over time. */
export function trendsSection(points: readonly TrendPoint[]): Section {
  const models = unique(points.map(({ model }) => model));
  return {
    id: 'trends',
    title: 'Price trends',
    lead: `The models with most prices, by source. Each point is the median price of the month and the two before it together, so that one odd month does not make a trend. ${PRICES}`,
    figures: [trends(points, models)],
  };
}

function trends(points: readonly TrendPoint[], models: readonly string[]): Figure {
  const title = 'Three-month median price of the most traded models';
  const drawn = points.filter(({ median }) => median !== null);
  if (unique(drawn.map(({ month: at }) => at.toISOString())).length < 2)
    return { title, words: 'No model has enough prices in two months yet.' };
  const sources = unique(points.map(({ source }) => source));
  const chart = panels(
    points.map(({ model, source, month: at, median }) => ({
      panel: model,
      series: source,
      at,
      value: median,
    })),
    {
      id: 'chart-trends',
      title,
      description: `Lines by month for ${list(models)}. ${models.map((model) => latest(model, drawn)).join(' ')}`,
      format: (value) => `$${Math.round(value / 1000)}k`,
      unit: 'month',
    },
  );
  return {
    title,
    legend: legendOf(sources),
    chart,
    numbers: {
      head: ['Model', 'Source', 'Month', '>Prices in 3 months', '>Median'],
      rows: points.map((point) => [
        point.model,
        point.source,
        month(point.month),
        count(point.prices),
        orTooFew(point.median, point.prices, usd),
      ]),
    },
  };
}

function latest(model: string, points: readonly TrendPoint[]): string {
  const last = points.filter((point) => point.model === model).at(-1);
  return last === undefined ? '' : `${model}: ${usd(last.median)} in ${month(last.month)} at ${last.source}.`;
}

/** How many of the lots that are offered are sold, month by month, and attempt by attempt. */
export function sellThroughSection(
  points: readonly SellThroughPoint[],
  attempts: readonly Attempt[],
  waiting: readonly Waiting[],
): Section {
  return {
    id: 'selling',
    title: 'Selling',
    lead: 'How many of the lots that are put up are sold, what happens to those that come back, and how long they stand. The last weeks rise as sellers agree to bids that are still on approval.',
    figures: [sellThrough(points), relisting(attempts), timeToSale(waiting)],
  };
}

function sellThrough(points: readonly SellThroughPoint[]): Figure {
  const title = 'Share of offered lots that are sold, by source';
  const drawn = points.filter(({ share3m }) => share3m !== null);
  const numbers = {
    head: ['Source', 'Month', '>Offered', '>Sold', '>Share', '>Share, 3 months'],
    rows: points.map((point) => [
      point.source,
      month(point.month),
      count(point.offered),
      count(point.sold),
      orTooFew(point.share, point.offered, percent),
      percent(point.share3m),
    ]),
  };
  if (unique(drawn.map(({ month: at }) => at.toISOString())).length < 2)
    return { title, words: 'No source has enough results in two months yet.', numbers: orNone(numbers) };
  const chart = lines(
    points.map(({ source, month: at, share3m }) => ({ series: source, at, value: share3m })),
    {
      id: 'chart-sell-through',
      title,
      description: unique(drawn.map(({ source }) => source))
        .map((name) => {
          const last = drawn.filter(({ source }) => source === name).at(-1);
          return `${name}: ${percent(last?.share3m ?? null)} in the three months to ${last === undefined ? '' : month(last.month)}.`;
        })
        .join(' '),
      format: wholePercent,
      unit: 'month',
    },
  );
  return {
    title,
    note: 'Each point is the month and the two before it together.',
    legend: legendOf(unique(points.map(({ source }) => source))),
    chart,
    numbers,
  };
}

function relisting(attempts: readonly Attempt[]): Figure {
  const title = 'Lots that are sold at each attempt';
  const known = attempts.filter(({ share }) => share !== null);
  if (known.length === 0) return { title, words: 'There are not enough results yet.' };
  const chart = bars(
    known.map(({ source, attempt, share, reached }) => ({
      name: `Attempt ${attempt}, ${source}`,
      value: share,
      text: `${percent(share)} of ${count(reached)}`,
    })),
    {
      id: 'chart-relisting',
      title,
      description: known
        .map(({ source, attempt, share }) => `Attempt ${attempt} at ${source}: ${percent(share)}.`)
        .join(' '),
    },
  );
  return {
    title,
    note: 'A lot that comes back more than three days later is at its next attempt.',
    chart,
    numbers: {
      head: ['Source', '>Attempt', '>Lots', '>Sold', '>Share', '>Price against first attempt'],
      rows: attempts.map((row) => [
        row.source,
        count(row.attempt),
        count(row.reached),
        count(row.sold),
        orTooFew(row.share, row.reached, percent),
        orTooFew(row.ratioToFirst, row.compared, ratio),
      ]),
    },
  };
}

function timeToSale(waiting: readonly Waiting[]): Figure {
  const title = 'Days until lots of the most sold models are sold';
  if (waiting.length === 0) return { title, words: 'No model has enough sales yet.' };
  const chart = ranges(
    waiting.map(({ name, low, median, high, timed }) => ({
      name,
      low,
      middle: median,
      high,
      text: plural(timed, 'lot'),
    })),
    {
      id: 'chart-waiting',
      title,
      description: waiting.map(({ name, median }) => `${name}: ${days(median)}.`).join(' '),
      format: (value) => String(value),
      axis: 'days from the listing to the sale',
    },
  );
  return {
    title,
    note: 'The dot is the median, the bar holds the middle half. Lots that are still open are not among them, and stand longest.',
    chart,
    numbers: {
      head: ['Model', '>Sold', '>Quarter', '>Median', '>Three quarters', '>Open', '>Open for'],
      rows: waiting.map((row) => [
        row.name,
        count(row.timed),
        days(row.low),
        days(row.median),
        days(row.high),
        count(row.open),
        orTooFew(row.openMedian, row.open, days),
      ]),
    },
  };
}

/** What damages and titles do to the price. */
export function damageSection(damages: readonly Kind[], titles: readonly Kind[]): Section {
  return {
    id: 'damage',
    title: 'Damage and title',
    lead: 'What kind of lots there are, and what they bring against comparable ones. Mileage and age are not evened out, so a ratio is a comparison and not a cause.',
    figures: [
      damageLots(damages),
      kinds('Price by main damage, against sound lots', 'chart-damage-price', damages, {
        note: 'Against sound lots of the same model and source: no damage, normal wear or minor dents. 0.8 is 20% below.',
        none: 'No damage has enough prices yet that can be compared with sound lots of the same model. The table has what is known.',
        axis: 'price against sound lots, which are 1',
      }),
      kinds('Price by title, against all titles', 'chart-titles', titles, {
        note: 'Against the other prices of the same model year and source, whatever their title. Divide two ratios to compare two titles.',
        none: 'No title has enough prices yet that can be compared with others of the same model year.',
        axis: 'price against the model year, which is 1',
      }),
    ],
  };
}

function damageLots(damages: readonly Kind[]): Figure {
  const title = 'Lots by main damage';
  if (damages.length === 0) return { title, words: 'There are no lots yet.' };
  return {
    title,
    note: 'All lots that were ever seen, those that have left included. Names are the feed’s own; two that mean the same stay apart.',
    chart: bars(
      damages.map(({ name, lots }) => ({ name, value: lots, text: count(lots) })),
      {
        id: 'chart-damage-lots',
        title,
        description: damages.map(({ name, lots }) => `${name}: ${count(lots)}.`).join(' '),
      },
    ),
    numbers: {
      head: ['Main damage', '>Lots', '>Sold'],
      rows: damages.map(({ name, lots, sold }) => [name, count(lots), count(sold)]),
    },
  };
}

function kinds(
  title: string,
  id: string,
  rows: readonly Kind[],
  texts: { readonly note: string; readonly none: string; readonly axis: string },
): Figure {
  const numbers = orNone({
    head: ['', '>Lots', '>Sold', '>Prices compared', '>Ratio'],
    rows: rows.map((row) => [
      row.name,
      count(row.lots),
      count(row.sold),
      count(row.compared),
      orTooFew(row.ratio, row.compared, ratio),
    ]),
  });
  if (rows.every((row) => row.ratio === null)) return { title, words: texts.none, numbers };
  const chart = ranges(
    rows.map((row) => ({
      name: row.name,
      middle: row.ratio,
      text: row.ratio === null ? orTooFew(null, row.compared, ratio) : plural(row.compared, 'price'),
    })),
    {
      id,
      title,
      description: rows.map((row) => `${row.name}: ${orTooFew(row.ratio, row.compared, ratio)}.`).join(' '),
      format: (value) => value.toFixed(1),
      reference: 1,
      axis: texts.axis,
    },
  );
  return { title, note: texts.note, chart, numbers };
}

const orNone = <T extends { readonly rows: readonly unknown[] }>(numbers: T): T | undefined =>
  numbers.rows.length === 0 ? undefined : numbers;
