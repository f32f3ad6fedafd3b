import { count, orTooFew, plural, ratio, shortRatio } from './format.js';
import type { Figure, Numbers, Section } from './page.js';
import type { Kind } from './read-market.js';
import { bars, ranges } from './row-charts.js';

/** What damages and titles do to the price. */
export function damageSection(damages: readonly Kind[], titles: readonly Kind[]): Section {
  return {
    id: 'damage',
    title: 'Damage and title',
    lead: 'What kind of lots there are, and what they bring against comparable ones. Mileage and age are not evened out, so a ratio is a comparison and not a cause.',
    figures: [
      damageLots(damages),
      kinds('Price by main damage, against sound lots', 'chart-damage-price', damages, {
        note: 'Against sound lots of the same model and source: their stated damages are none, normal wear or minor dents. A lot whose main damage is not given is not one of them. 0.8 is 20% below.',
        none: 'No damage has enough prices yet that can be compared with sound lots of the same model.',
        axis: 'price against sound lots, which are 1',
        kind: 'Main damage',
      }),
      kinds('Price by title, against all titles', 'chart-titles', titles, {
        note: 'Against the other prices of the same model year and source, whatever their title. Divide two ratios to compare two titles.',
        none: 'No title has enough prices yet that can be compared with others of the same model year.',
        axis: 'price against the model year, which is 1',
        kind: 'Title',
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
    numbers: numbersOf('Main damage', damages),
  };
}

const numbersOf = (kind: string, rows: readonly Kind[]): Numbers => ({
  head: [kind, '>Lots', '>Sold', '>Prices compared', '>Ratio'],
  rows: rows.map((row) => [
    row.name,
    count(row.lots),
    count(row.sold),
    count(row.compared),
    orTooFew(row.ratio, row.compared, ratio),
  ]),
});

function kinds(
  title: string,
  id: string,
  rows: readonly Kind[],
  texts: { readonly note: string; readonly none: string; readonly axis: string; readonly kind: string },
): Figure {
  if (rows.every((row) => row.ratio === null)) return { title, words: texts.none };
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
      format: shortRatio,
      reference: 1,
      axis: texts.axis,
    },
  );
  return { title, note: texts.note, chart, numbers: numbersOf(texts.kind, rows) };
}
