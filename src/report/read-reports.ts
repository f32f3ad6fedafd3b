import type { DuckDBConnection } from '@duckdb/node-api';
import { rows } from '../duck/session.js';
import { label, type Maybe, maybe, source, words } from './format.js';
import { apart, currencyIn } from './read-market.js';

/** A part that inspectors look at. */
export interface Part {
  readonly name: string;
  readonly lookedAt: number;
  readonly found: number;
  readonly share: Maybe;
  readonly unknown: number;
  readonly issues: string;
}

/** Parts with the greatest share of issues among those that were looked at, with their most frequent issue. */
export async function readParts(connection: DuckDBConnection): Promise<readonly Part[]> {
  const found = await rows(
    connection,
    `with issues as (
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
     limit 14`,
  );
  return found.map((row) => ({
    name: `${words(row.part_key)} (${words(row.block_key)})`,
    lookedAt: Number(row.looked_at),
    found: Number(row.found_items),
    share: maybe(row.found_share),
    unknown: Number(row.unknown_items) + Number(row.not_checked_items),
    issues: row.usual === null ? '' : words(row.usual),
  }));
}

/** Events of a type at a source, with their amounts in one currency. */
export interface ClaimType {
  readonly source: string;
  readonly type: string;
  /** Null where the events of the row have no amount. */
  readonly currency: string | null;
  readonly events: number;
  readonly withAmount: number;
  readonly amount: Maybe;
  readonly median: Maybe;
}

/** Events of history reports by source, type and currency, most events first. */
export async function readClaims(
  connection: DuckDBConnection,
  minimumGroup: number,
): Promise<readonly ClaimType[]> {
  const found = await rows(
    connection,
    `with named as (
       select distinct domain_id, domain_name from check_breakdown where domain_id is not null
     )
     select c.domain_id, n.domain_name, c.type_key, c.currency, count(*) as events,
       count(c.amount_total) as with_amount, sum(c.amount_total) as amount, median(c.amount_total) as amount_median
     from claim_history as c
     left join named as n on n.domain_id = c.domain_id
     group by all
     order by events desc, c.type_key, c.currency nulls last, c.domain_id
     limit 20`,
  );
  return found.map((row) => {
    const withAmount = Number(row.with_amount);
    return {
      source: row.domain_name === null ? `source ${label(row.domain_id)}` : source(row.domain_name),
      type: words(row.type_key),
      currency: row.currency === null ? null : label(row.currency, 8),
      events: Number(row.events),
      withAmount,
      amount: maybe(row.amount),
      median: withAmount < minimumGroup ? null : maybe(row.amount_median),
    };
  });
}

/** Asking or sale prices of lots with a number of claims, against lots of the same model year that have none. */
export interface Discount {
  readonly name: string;
  readonly kind: string;
  readonly lots: number;
  readonly compared: number;
  readonly ratio: Maybe;
}

/** What claims and accidents take off, where an inspection says whether there was an accident. */
export async function readDiscounts(connection: DuckDBConnection): Promise<readonly Discount[]> {
  const found = await rows(
    connection,
    `select *, ${apart('price_kind, claims_band, accident')}
     from accident_discount
     where accident_evidence = 'inspection' and claims_band is not null
     order by price_kind, accident, claims_band, currency`,
  );
  return found.map((row) => ({
    name: `${claimsOf(Number(row.claims_band))}, ${row.accident === 'yes' ? 'accident' : 'no accident'}${currencyIn(row)}`,
    kind: row.price_kind === 'asking' ? 'asking price' : 'sale price',
    lots: Number(row.lots),
    compared: Number(row.compared_lots),
    ratio: maybe(row.price_ratio_median),
  }));
}

const claimsOf = (band: number): string =>
  band === 0 ? 'No claim' : band === 1 ? '1 claim' : band === 2 ? '2 claims' : '3 or more claims';
