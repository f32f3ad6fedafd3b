import {
  count,
  dateOf,
  isUnfinished,
  label,
  list,
  maybe,
  money,
  month,
  monthSoFar,
  orTooFew,
  shortMoney,
  source,
  unique,
} from './format.js';
import { fromFirst, lastOf, panels } from './line-charts.js';
import { type Figure, legendOf, type Marts, numbersOf, type Section, UNFINISHED } from './page.js';

/** How many models are drawn, and over how many months. */
const MODELS = 6;
const MONTHS = 18;

/**
 * Three-month medians of the models (with generation) with most prices, in the known currency of most prices; one row a
 * month and source.
 */
const TRENDS = `
  with
    recent as (
      select * from price_trends
      where month > (select max(month) from price_trends) - interval ${MONTHS} month
        and currency = (
          select currency from price_trends
          where currency is not null
          group by currency
          order by sum(priced_lots) desc, currency
          limit 1
        )
    ),
    top as (
      select manufacturer_id, model_id, generation_id, sum(priced_lots) as prices
      from recent
      where model_id is not null
      group by all
      having count(price_median_3m) > 0
      order by prices desc, manufacturer_id, model_id, generation_id
      limit ${MODELS}
    )
  select r.* from recent as r
  join top as t on r.manufacturer_id is not distinct from t.manufacturer_id
    and r.model_id = t.model_id and r.generation_id is not distinct from t.generation_id
  order by t.prices desc, r.manufacturer_id, r.model_id, r.generation_id, r.domain_id, r.month`;

/** Prices of the most traded models over time. */
export async function trendsSection(marts: Marts): Promise<Section> {
  return {
    id: 'trends',
    title: 'Price trends',
    lead: 'The models with most prices, by source. Each point is the median price of the month and the two before it together, so that one odd month does not make a trend. Prices are what the lots were sold for, in one currency, that of most prices.',
    figures: [await trends(marts)],
  };
}

async function trends({ ask, now }: Marts): Promise<Figure> {
  const found = await ask(TRENDS);
  const points = found.map((row) => ({
    panel: [row.manufacturer_name, row.model_name, row.generation_name]
      .filter((name) => name !== null)
      .map((name) => label(name))
      .join(' '),
    series: source(row.domain_name),
    at: dateOf(row.month),
    value: maybe(row.price_median_3m),
    isUnfinished: isUnfinished(dateOf(row.month), now),
    prices: row.priced_lots_3m,
  }));
  const title = 'Three-month median price of the most traded models';
  const drawn = fromFirst(points);
  if (drawn === undefined) return { title, words: 'No model has enough prices in two months yet.' };
  const currency = String(found[0]?.currency);
  const models = unique(points.map(({ panel }) => panel));
  const latest = models.map((model) => {
    const last = lastOf(points.filter(({ panel }) => panel === model));
    return last === undefined
      ? ''
      : `${model}: ${money(last.value, currency)} in ${month(last.at)} at ${last.series}.`;
  });
  return {
    title,
    note: 'Prices of sales before a source was observed are those of lots that were still in the feed.',
    legend: [...legendOf(unique(points.map(({ series }) => series))), UNFINISHED],
    chart: panels(drawn, {
      id: 'chart-trends',
      title,
      description: `Lines by month for ${list(models)}. ${latest.join(' ')}`,
      format: (value) => shortMoney(value, currency),
      unit: 'month',
    }),
    numbers: numbersOf(points, {
      Model: ({ panel }) => panel,
      Source: ({ series }) => series,
      Month: ({ at }) => monthSoFar(at, now),
      '>Prices in 3 months': ({ prices }) => count(prices),
      '>Median': ({ value, prices }) => orTooFew(value, prices, (median) => money(median, currency)),
    }),
  };
}
