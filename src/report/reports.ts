import type { Row } from '../duck/session.js';
import {
  apart,
  count,
  currencyIn,
  label,
  maybe,
  NONE,
  orTooFew,
  percent,
  ratio,
  shortRatio,
  source,
  withFields,
  words,
} from './format.js';
import { type Figure, type Marts, numbersOf, type Section } from './page.js';
import { bars, ranges } from './row-charts.js';

/** Parts with the greatest share of issues among those that inspectors looked at, with their most frequent issue. */
const PARTS = `
  with issues as (
    select block_key, part_key, issue_type_key, sum(found_items) as found
    from inspection_issues where level = 'issue' group by all
  ), usual as (
    select block_key, part_key, first(issue_type_key order by found desc, issue_type_key) as issue_type_key
    from issues group by all
  )
  select p.*, u.issue_type_key as usual
  from inspection_issues as p
  left join usual as u on u.block_key = p.block_key and u.part_key = p.part_key
  where p.level = 'part' and p.looked_at > 0
  order by p.found_share desc nulls last, p.looked_at desc, p.block_key, p.part_key
  limit 14`;

/** What inspectors find. */
export async function inspectionSection({ ask }: Marts): Promise<Section> {
  const parts = await ask(PARTS);
  const title = 'Parts on which issues are found most often';
  const name = (row: Row): string => `${words(row.part_key)} (${words(row.block_key)})`;
  const known = parts.filter(({ found_share }) => found_share !== null);
  const figure: Figure =
    known.length === 0
      ? { title, words: 'Too few parts were inspected yet.' }
      : {
          title,
          note: 'Of those that were looked at. A part that nobody checked is not counted as sound.',
          chart: bars(
            known.map((row) => ({
              name: name(row),
              value: maybe(row.found_share),
              text: `${percent(row.found_share)} of ${count(row.looked_at)}`,
              said: percent(row.found_share),
            })),
            { id: 'chart-inspections', title },
          ),
          numbers: numbersOf(parts, {
            Part: name,
            '>Looked at': (row) => count(row.looked_at),
            '>Issues': (row) => count(row.found_items),
            '>Share': (row) => orTooFew(row.found_share, row.looked_at, percent),
            '>Not checked or unknown': (row) =>
              count(Number(row.unknown_items) + Number(row.not_checked_items)),
            'Most frequent issue': (row) => (row.usual === null ? NONE : words(row.usual)),
          }),
        };
  return {
    id: 'inspections',
    title: 'Inspections',
    lead: 'What inspectors find on the cars of sources that publish reports, part by part.',
    figures: [figure],
  };
}

/** What history reports tell, and what it takes off the price. */
export async function claimSection(marts: Marts): Promise<Section> {
  return {
    id: 'claims',
    title: 'Claims and history',
    lead: 'What history reports list. Amounts stay in the currency of the source; they are neither converted nor added across currencies.',
    figures: [await events(marts), await discount(marts)],
  };
}

/** Events of history reports by source, type and currency, most events first. */
const eventsSql = (minimumGroup: number): string => `
  with named as (
    select distinct domain_id, domain_name from check_breakdown where domain_id is not null
  )
  select c.domain_id, n.domain_name, c.type_key, c.currency, count(*) as events,
    count(c.amount_total) as with_amount, sum(c.amount_total) as amount,
    case when with_amount >= ${minimumGroup} then median(c.amount_total) end as amount_median
  from claim_history as c
  left join named as n on n.domain_id = c.domain_id
  group by all
  order by events desc, c.type_key, c.currency nulls last, c.domain_id
  limit 20`;

async function events({ ask, minimumGroup }: Marts): Promise<Figure> {
  const claims = (await ask(eventsSql(minimumGroup))).map((row) =>
    withFields(row, {
      from: row.domain_name === null ? `source ${label(row.domain_id)}` : source(row.domain_name),
      type: words(row.type_key),
      currency: row.currency === null ? null : label(row.currency, 8),
    }),
  );
  const title = 'Events in history reports, by type and currency';
  if (claims.length === 0) return { title, words: 'No history report lists an event yet.' };
  const isOneSource = new Set(claims.map(({ from }) => from)).size === 1;
  return {
    title,
    chart: bars(
      claims.map(({ type, currency, from, events: many }) => ({
        name: `${type}${currency === null ? '' : ` (${currency})`}${isOneSource ? '' : `, ${from}`}`,
        value: maybe(many),
        text: count(many),
      })),
      { id: 'chart-claims', title },
    ),
    numbers: numbersOf(claims, {
      Event: ({ type }) => type,
      Source: ({ from }) => from,
      '>Events': (row) => count(row.events),
      '>With amount': (row) => count(row.with_amount),
      Currency: ({ currency }) => currency ?? NONE,
      '>Sum': (row) => rounded(row.amount),
      '>Median': (row) =>
        row.with_amount === 0 ? NONE : orTooFew(row.amount_median, row.with_amount, rounded),
    }),
  };
}

const rounded = (amount: unknown): string => count(amount === null ? null : Math.round(Number(amount)));

/** What claims and accidents take off, if an inspection says whether there was an accident. */
const DISCOUNTS = `
  select *, ${apart('price_kind, claims_band, accident')}
  from accident_discount
  where accident_evidence = 'inspection' and claims_band is not null
  order by price_kind, accident, claims_band, currency`;

const CLAIMS = ['No claim', '1 claim', '2 claims'];

async function discount({ ask }: Marts): Promise<Figure> {
  const discounts = (await ask(DISCOUNTS)).map((row) =>
    withFields(row, {
      name: `${CLAIMS[Number(row.claims_band)] ?? '3 or more claims'}, ${row.accident === 'yes' ? 'accident' : 'no accident'}${currencyIn(row)}`,
      kind: row.price_kind === 'asking' ? 'asking price' : 'sale price',
      middle: row.price_ratio_median,
      values: row.compared_lots,
    }),
  );
  const title = 'Price by claims and accident, against cars with neither';
  if (discounts.every(({ middle }) => middle === null))
    return { title, words: 'Too few inspected cars can be compared yet.' };
  const isOneKind = new Set(discounts.map(({ kind }) => kind)).size === 1;
  return {
    title,
    note: 'Against cars of the same model year and source without claim and accident; the accident as an inspector concludes.',
    chart: ranges(
      discounts.map((row) => withFields(row, { name: isOneKind ? row.name : `${row.name}, ${row.kind}` })),
      {
        id: 'chart-discount',
        title,
        noun: 'car',
        say: ratio,
        format: shortRatio,
        reference: 1,
        axis: 'price, where cars with neither are 1',
      },
    ),
    numbers: numbersOf(discounts, {
      'Claims and accident': ({ name }) => name,
      Price: ({ kind }) => kind,
      '>Cars': (row) => count(row.lots),
      '>Compared': ({ values }) => count(values),
      '>Ratio': ({ middle, values }) => orTooFew(middle, values, ratio),
    }),
  };
}
