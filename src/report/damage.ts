import type { Row } from '../duck/session.js';
import {
  apart,
  count,
  currencyIn,
  label,
  maybe,
  orNotGiven,
  orTooFew,
  ratio,
  shortRatio,
  source,
  withFields,
} from './format.js';
import { type Figure, type Marts, type Numbers, numbersOf, type Section } from './page.js';
import { bars, ranges } from './row-charts.js';

/** A ratio over several models is shown if it rests on this many times the least group. */
export const POOLED_GROUPS = 4;

/**
 * Main damages with most lots, all models together. The ratio to sound lots is the mean of the ratios of
 * `damage_breakdown`, weighted by their prices.
 */
const damagesSql = (leastPrices: number): string => `
  with damages as (
    select
      damage_main as name,
      sum(lots) as lots,
      sum(sold) as sold,
      coalesce(sum(priced_lots) filter (where price_ratio_to_sound is not null), 0) as compared,
      -- Rounded, since a sum of fractions depends on the order of its rows.
      round(
        sum(price_ratio_to_sound * priced_lots)
          / sum(priced_lots) filter (where price_ratio_to_sound is not null),
        6
      ) as ratio
    from damage_breakdown
    group by damage_main
  )
  select name, lots, sold, compared, case when compared >= ${leastPrices} then ratio end as ratio
  from damages
  order by lots desc, name
  limit 14`;

/** Titles of each source with most lots. */
const TITLES = `
  select title_name as name, domain_name, lots, lots_sold as sold, compared_lots as compared,
    price_ratio_median as ratio, ${apart('domain_id, title_name')}
  from title_breakdown
  where domain_id is distinct from 12
  order by lots desc, domain_id, title_name, currency
  limit 14`;

/** A kind of lot, such as a damage or a title, with its lots, sales and prices against comparable lots. */
type Kind = Row & { readonly name: string };

/** What damages and titles do to the price. */
export async function damageSection({ ask, minimumGroup }: Marts): Promise<Section> {
  const damages = (await ask(damagesSql(minimumGroup * POOLED_GROUPS))).map((row) =>
    withFields(row, {
      name: orNotGiven(label(row.name)),
    }),
  );
  const titles = (await ask(TITLES)).map((row) =>
    withFields(row, {
      name: `${orNotGiven(label(row.name, 40))}, ${source(row.domain_name)}${currencyIn(row)}`,
    }),
  );
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
      damages.map(({ name, lots }) => ({ name, value: maybe(lots), text: count(lots) })),
      { id: 'chart-damage-lots', title },
    ),
    numbers: kindNumbers('Main damage', damages),
  };
}

const kindNumbers = (kind: string, rows: readonly Kind[]): Numbers =>
  numbersOf(rows, {
    [kind]: ({ name }) => name,
    '>Lots': ({ lots }) => count(lots),
    '>Sold': ({ sold }) => count(sold),
    '>Prices compared': ({ compared }) => count(compared),
    '>Ratio': (row) => orTooFew(row.ratio, row.compared, ratio),
  });

function kinds(
  title: string,
  id: string,
  rows: readonly Kind[],
  { note, none, axis, kind }: { note: string; none: string; axis: string; kind: string },
): Figure {
  if (rows.every((row) => row.ratio === null)) return { title, words: none };
  const drawn = rows.map((row) => ({ name: row.name, middle: row.ratio, values: row.compared }));
  return {
    title,
    note,
    chart: ranges(drawn, { id, title, noun: 'price', say: ratio, format: shortRatio, reference: 1, axis }),
    numbers: kindNumbers(kind, rows),
  };
}
