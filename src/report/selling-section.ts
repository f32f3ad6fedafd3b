import {
  count,
  day,
  days,
  isUnfinished,
  list,
  month,
  monthSoFar,
  orTooFew,
  percent,
  plural,
  ratio,
  wholePercent,
} from './format.js';
import { fromFirst, lines } from './line-charts.js';
import { type Figure, legendOf, type Section, UNFINISHED } from './page.js';
import type { Attempt, Waiting } from './read-lots.js';
import type { Observed, SellThroughPoint } from './read-market.js';
import type { ReportData } from './read-report.js';
import { bars, ranges } from './row-charts.js';

const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** How many of the lots that are offered are sold, month by month, and attempt by attempt. */
export function sellingSection(
  {
    sellThrough: points,
    attempts,
    waiting,
    observed,
  }: Pick<ReportData, 'sellThrough' | 'attempts' | 'waiting' | 'observed'>,
  now: Date,
): Section {
  const since = sinceWhen(observed.filter(({ isAuction }) => isAuction));
  return {
    id: 'selling',
    title: 'Selling',
    lead: 'How many of the lots that are put up are sold, what happens to those that come back, and how long they stand. The last weeks rise as sellers agree to bids that are still on approval.',
    figures: [sellThrough(points, since, now), relisting(attempts), timeToSale(waiting)],
  };
}

/** Since when sources are observed, in a sentence or a few. */
export function sinceWhen(observed: readonly Observed[]): string {
  if (observed.length === 0) return 'No source is observed yet.';
  const days = unique(observed.map(({ since }) => day(since)));
  const texts = days.map((from) => {
    const names = observed.filter(({ since }) => day(since) === from).map((of) => of.source);
    return `${list(names)} ${names.length === 1 ? 'is' : 'are'} observed since ${from}`;
  });
  const broken = observed.filter(({ breaks }) => breaks > 0).map((of) => of.source);
  return `${texts.join('; ')}${broken.length === 0 ? '' : `, with breaks at ${list(broken)}`}.`;
}

function sellThrough(points: readonly SellThroughPoint[], since: string, now: Date): Figure {
  const title = 'Share of offered lots that are sold, by source';
  const note = `${since} No share is known of months before that. Each point is the month and the two before it together, as far as they were observed.`;
  const drawn = points.filter(({ share3m }) => share3m !== null);
  const numbers = {
    head: ['Source', 'Month', '>Offered', '>Sold', '>Share', '>Share, 3 months'],
    rows: points.map((point) => [
      point.source,
      monthOf(point, now),
      count(point.offered),
      count(point.sold),
      point.observed === 'none' ? 'not observed' : orTooFew(point.share, point.offered, percent),
      percent(point.share3m),
    ]),
  };
  if (unique(drawn.map(({ month: at }) => at.toISOString())).length < 2)
    return {
      title,
      note,
      words: 'No source has enough results in two months yet.',
      numbers: points.length === 0 ? undefined : numbers,
    };
  const chart = lines(
    fromFirst(points, drawn).map(({ source, month: at, share3m }) => ({
      series: source,
      at,
      value: share3m,
      isUnfinished: isUnfinished(at, now),
    })),
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
    note,
    legend: [...legendOf(unique(points.map(({ source }) => source))), UNFINISHED],
    chart,
    numbers,
  };
}

/** A month that says how much of it counts. */
const monthOf = ({ month: at, observed }: SellThroughPoint, now: Date): string =>
  observed === 'part' && !isUnfinished(at, now) ? `${month(at)}, in part` : monthSoFar(at, now);

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
    note: 'Of auctions that were observed. A lot that comes back more than three days later is at its next attempt. Offered again are sales that did not hold, because the vehicle soon came back as another lot.',
    chart,
    numbers: {
      head: [
        'Source',
        '>Attempt',
        '>Lots',
        '>Sold',
        '>Offered again',
        '>Share',
        '>Price against first attempt',
      ],
      rows: attempts.map((row) => [
        row.source,
        count(row.attempt),
        count(row.reached),
        count(row.sold),
        count(row.offeredAgain),
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
