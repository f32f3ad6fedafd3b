import { count, isUnfinished, list, money, month, monthSoFar, orTooFew, shortMoney } from './format.js';
import { fromFirst, panels } from './line-charts.js';
import { type Figure, legendOf, type Section, UNFINISHED } from './page.js';
import type { TrendPoint } from './read-market.js';

const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** Prices of the most traded models over time. */
export function trendsSection(points: readonly TrendPoint[], now: Date): Section {
  const models = unique(points.map(({ model }) => model));
  return {
    id: 'trends',
    title: 'Price trends',
    lead: 'The models with most prices, by source. Each point is the median price of the month and the two before it together, so that one odd month does not make a trend. Prices are what the lots were sold for, in one currency, that of most prices.',
    figures: [trends(points, models, now)],
  };
}

function trends(points: readonly TrendPoint[], models: readonly string[], now: Date): Figure {
  const title = 'Three-month median price of the most traded models';
  const drawn = points.filter(({ median }) => median !== null);
  if (unique(drawn.map(({ month: at }) => at.toISOString())).length < 2)
    return { title, words: 'No model has enough prices in two months yet.' };
  const sources = unique(points.map(({ source }) => source));
  const currency = points[0]?.currency ?? '';
  const chart = panels(
    fromFirst(points, drawn).map(({ model, source, month: at, median }) => ({
      panel: model,
      series: source,
      at,
      value: median,
      isUnfinished: isUnfinished(at, now),
    })),
    {
      id: 'chart-trends',
      title,
      description: `Lines by month for ${list(models)}. ${models.map((model) => latest(model, drawn)).join(' ')}`,
      format: (value) => shortMoney(value, currency),
      unit: 'month',
    },
  );
  return {
    title,
    note: 'Prices of sales before a source was observed are those of lots that were still in the feed.',
    legend: [...legendOf(sources), UNFINISHED],
    chart,
    numbers: {
      head: ['Model', 'Source', 'Month', '>Prices in 3 months', '>Median'],
      rows: points.map((point) => [
        point.model,
        point.source,
        monthSoFar(point.month, now),
        count(point.prices),
        orTooFew(point.median, point.prices, (median) => money(median, point.currency)),
      ]),
    },
  };
}

function latest(model: string, points: readonly TrendPoint[]): string {
  const last = points.filter((point) => point.model === model).at(-1);
  return last === undefined
    ? ''
    : `${model}: ${money(last.median, last.currency)} in ${month(last.month)} at ${last.source}.`;
}
