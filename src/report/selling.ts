import {
  count,
  dateOf,
  day,
  days,
  isUnfinished,
  label,
  list,
  maybe,
  month,
  monthSoFar,
  orTooFew,
  percent,
  ratio,
  source,
  unique,
  wholePercent,
  withFields,
} from './format.js';
import { fromFirst, lastOf, lines } from './line-charts.js';
import { type Figure, legendOf, type Marts, numbersOf, type Section, UNFINISHED } from './page.js';
import { bars, ranges } from './row-charts.js';

/** How many offered lots are sold, month by month and attempt by attempt, and how long that takes. */
export async function sellingSection(marts: Marts): Promise<Section> {
  return {
    id: 'selling',
    title: 'Selling',
    lead: 'How many of the lots that are put up are sold, what happens to those that come back, and how long they stand. The last weeks rise as sellers agree to bids that are still on approval.',
    figures: [await sellThrough(marts), await relisting(marts), await timeToSale(marts)],
  };
}

/**
 * Since when sources are observed, as sentences.
 * @param auctions only the sources that sell by auction
 */
export async function observedSince({ ask }: Pick<Marts, 'ask'>, auctions = false): Promise<string> {
  const spans = await ask(`
    select domain_name, min(observed_from) as since, max(span) > 1 as is_broken
    from observed_spans
    where ${auctions ? 'domain_id <> 12' : 'true'}
    group by domain_id, domain_name
    order by domain_id`);
  if (spans.length === 0) return 'No source is observed yet.';
  const observed = spans.map((row) => ({
    name: source(row.domain_name),
    since: day(dateOf(row.since)),
    isBroken: row.is_broken === true,
  }));
  const texts = unique(observed.map(({ since }) => since)).map((from) => {
    const names = observed.filter(({ since }) => since === from).map(({ name }) => name);
    return `${list(names)} ${names.length === 1 ? 'is' : 'are'} observed since ${from}`;
  });
  const broken = observed.filter(({ isBroken }) => isBroken).map(({ name }) => name);
  return `${texts.join('; ')}${broken.length === 0 ? '' : `, with breaks at ${list(broken)}`}.`;
}

async function sellThrough({ ask, now }: Marts): Promise<Figure> {
  const found = await ask(`
    select * from sell_through
    where month > (select max(month) from sell_through) - interval 24 month
    order by domain_id, month`);
  const points = found.map((row) => ({
    series: source(row.domain_name),
    at: dateOf(row.month),
    value: maybe(row.sell_through_3m),
    isUnfinished: isUnfinished(dateOf(row.month), now),
    row,
  }));
  const title = 'Share of offered lots that are sold, by source';
  const note = `${await observedSince({ ask }, true)} No share is known of months before that. Each point is the month and the two before it together, as far as they were observed.`;
  const numbers = numbersOf(points, {
    Source: ({ series }) => series,
    Month: ({ at, isUnfinished: goesOn, row }) =>
      row.observed === 'part' && !goesOn ? `${month(at)}, in part` : monthSoFar(at, now),
    '>Offered': ({ row }) => count(row.lots_offered),
    '>Sold': ({ row }) => count(row.lots_sold),
    '>Share': ({ row }) =>
      row.observed === 'whole' || row.observed === 'part'
        ? orTooFew(row.sell_through, row.lots_offered, percent)
        : 'not observed',
    '>Share, 3 months': ({ value }) => percent(value),
  });
  const drawn = fromFirst(points);
  if (drawn === undefined)
    return {
      title,
      note,
      words: 'No source has enough results in two months yet.',
      numbers: points.length === 0 ? undefined : numbers,
    };
  const sources = unique(points.map(({ series }) => series));
  const latest = sources.flatMap((name) => {
    const last = lastOf(points.filter(({ series }) => series === name));
    return last === undefined
      ? []
      : [`${name}: ${percent(last.value)} in the three months to ${month(last.at)}.`];
  });
  return {
    title,
    note,
    legend: [...legendOf(sources), UNFINISHED],
    chart: lines(drawn, {
      id: 'chart-sell-through',
      title,
      description: latest.join(' '),
      format: wholePercent,
      unit: 'month',
    }),
    numbers,
  };
}

/** Results of the first six attempts at each source. */
async function relisting({ ask }: Marts): Promise<Figure> {
  const attempts = await ask('select * from relisting where attempt <= 6 order by attempt, domain_id');
  const title = 'Lots that are sold at each attempt';
  const known = attempts.filter(({ sold_share }) => sold_share !== null);
  if (known.length === 0) return { title, words: 'There are not enough results yet.' };
  return {
    title,
    note: 'Of auctions that were observed. A lot that comes back more than three days later is at its next attempt. Offered again are sales that did not hold, because the vehicle soon came back as another lot.',
    chart: bars(
      known.map((row) => ({
        name: `Attempt ${row.attempt}, ${source(row.domain_name)}`,
        value: maybe(row.sold_share),
        text: `${percent(row.sold_share)} of ${count(row.lots_reached)}`,
        said: percent(row.sold_share),
      })),
      { id: 'chart-relisting', title },
    ),
    numbers: numbersOf(attempts, {
      Source: (row) => source(row.domain_name),
      '>Attempt': (row) => count(row.attempt),
      '>Lots': (row) => count(row.lots_reached),
      '>Sold': (row) => count(row.lots_sold),
      '>Offered again': (row) => count(row.offered_again_lots),
      '>Share': (row) => orTooFew(row.sold_share, row.lots_reached, percent),
      '>Price against first attempt': (row) =>
        orTooFew(row.price_ratio_to_first_median, row.compared_lots, ratio),
    }),
  };
}

/** How long the lots of the models and sources with most timed sales stand until they are sold. */
async function timeToSale({ ask }: Marts): Promise<Figure> {
  const found = await ask(`
    select * from time_to_sale
    where days_median is not null
    order by timed_lots desc, domain_id, manufacturer_id, model_id
    limit 12`);
  const title = 'Days until lots of the most sold models are sold';
  if (found.length === 0) return { title, words: 'No model has enough sales yet.' };
  const models = found.map((row) =>
    withFields(row, {
      name: `${label(row.manufacturer_name, 24)} ${label(row.model_name, 24)}, ${source(row.domain_name)}`,
      low: row.days_p25,
      middle: row.days_median,
      high: row.days_p75,
      values: row.timed_lots,
      open: row.open_lots,
      openMedian: row.open_days_median,
    }),
  );
  return {
    title,
    note: 'The dot is the median, the bar holds the middle half. Lots that are still open are not among them, and stand longest.',
    chart: ranges(models, {
      id: 'chart-waiting',
      title,
      noun: 'lot',
      say: days,
      format: (value) => String(value),
      axis: 'days from the listing to the sale',
    }),
    numbers: numbersOf(models, {
      Model: ({ name }) => name,
      '>Sold': ({ values }) => count(values),
      '>Quarter': ({ low }) => days(low),
      '>Median': ({ middle }) => days(middle),
      '>Three quarters': ({ high }) => days(high),
      '>Open': ({ open }) => count(open),
      '>Open for': ({ open, openMedian }) => orTooFew(openMedian, open, days),
    }),
  };
}
