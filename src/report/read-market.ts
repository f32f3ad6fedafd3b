import type { DuckDBConnection } from '@duckdb/node-api';
import { rows } from '../duck/session.js';
import { label, type Maybe, maybe, orNotGiven, source } from './format.js';

/** The pooled median price of a model in a month at one source, in one currency. */
export interface TrendPoint {
  readonly model: string;
  readonly source: string;
  readonly currency: string;
  readonly month: Date;
  readonly prices: number;
  readonly median: Maybe;
}

/** Models whose prices are drawn, and months back from the last one. */
const TREND_MODELS = 6;
const TREND_MONTHS = 18;

/**
 * Three-month medians of the models (with generation) that have most prices, in the known currency of most prices; one
 * point a month and source.
 */
export async function readTrends(connection: DuckDBConnection): Promise<readonly TrendPoint[]> {
  const found = await rows(
    connection,
    `with
       recent as (
         select * from price_trends
         where month > (select max(month) from price_trends) - interval ${TREND_MONTHS} month
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
         limit ${TREND_MODELS}
       )
     select r.* from recent as r
     join top as t on r.manufacturer_id is not distinct from t.manufacturer_id
       and r.model_id = t.model_id and r.generation_id is not distinct from t.generation_id
     order by t.prices desc, r.manufacturer_id, r.model_id, r.generation_id, r.domain_id, r.month`,
  );
  return found.map((row) => ({
    model: [row.manufacturer_name, row.model_name, row.generation_name]
      .filter((name) => name !== null)
      .map((name) => label(name))
      .join(' '),
    source: source(row.domain_name),
    currency: String(row.currency),
    month: dateOf(row.month),
    prices: Number(row.priced_lots_3m),
    median: maybe(row.price_median_3m),
  }));
}

/** Since when a source is observed. */
export interface Observed {
  readonly source: string;
  /** Whether it sells by auction. */
  readonly isAuction: boolean;
  readonly since: Date;
  /** How often it was not observed for some days since then. */
  readonly breaks: number;
}

/** Since when each source is observed, as far as it is. */
export async function readObserved(connection: DuckDBConnection): Promise<readonly Observed[]> {
  const found = await rows(
    connection,
    `select domain_id, domain_name, min(observed_from) as since, max(span) - 1 as breaks
     from observed_spans
     group by domain_id, domain_name
     order by domain_id`,
  );
  return found.map((row) => ({
    source: source(row.domain_name),
    isAuction: Number(row.domain_id) !== 12,
    since: dateOf(row.since),
    breaks: Number(row.breaks),
  }));
}

/** Attempts and sales of a month at one source. */
export interface SellThroughPoint {
  readonly source: string;
  readonly month: Date;
  /** How much of the month was observed; nothing is known of offers and sales where none was. */
  readonly observed: 'whole' | 'part' | 'none';
  readonly offered: Maybe;
  readonly sold: Maybe;
  readonly share: Maybe;
  readonly share3m: Maybe;
}

/** Sell-through by month and source, the last 24 months. */
export async function readSellThrough(connection: DuckDBConnection): Promise<readonly SellThroughPoint[]> {
  const found = await rows(
    connection,
    `select * from sell_through
     where month > (select max(month) from sell_through) - interval 24 month
     order by domain_id, month`,
  );
  return found.map((row) => ({
    source: source(row.domain_name),
    month: dateOf(row.month),
    observed: row.observed === 'whole' || row.observed === 'part' ? row.observed : 'none',
    offered: maybe(row.lots_offered),
    sold: maybe(row.lots_sold),
    share: maybe(row.sell_through),
    share3m: maybe(row.sell_through_3m),
  }));
}

/** A kind of lot, such as those of a damage or a title, and its prices against comparable ones. */
export interface Kind {
  readonly name: string;
  readonly lots: number;
  readonly sold: number;
  /** Prices that the ratio rests on. */
  readonly compared: number;
  readonly ratio: Maybe;
}

/** A ratio over several models is shown where it rests on this many times the least group. */
export const POOLED_GROUPS = 4;

/**
 * Main damages with most lots, all models together. The ratio to sound is the mean of the ratios that
 * `damage_breakdown` has, weighted by their prices.
 */
export async function readDamages(
  connection: DuckDBConnection,
  minimumGroup: number,
): Promise<readonly Kind[]> {
  const found = await rows(
    connection,
    `select
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
     order by lots desc, name
     limit 14`,
  );
  return found.map(kindOf).map((kind) => {
    return kind.compared < minimumGroup * POOLED_GROUPS ? { ...kind, ratio: null } : kind;
  });
}

/** Titles of each source with most lots, with the ratios of `title_breakdown`. */
export async function readTitles(connection: DuckDBConnection): Promise<readonly Kind[]> {
  const found = await rows(
    connection,
    `select title_name as name, domain_name, lots, lots_sold as sold, compared_lots as compared,
       price_ratio_median as ratio, ${apart('domain_id, title_name')}
     from title_breakdown
     where domain_id is distinct from 12
     order by lots desc, domain_id, title_name, currency
     limit 14`,
  );
  return found.map((row) => ({
    ...kindOf(row),
    name: `${orNotGiven(label(row.name, 40))}, ${source(row.domain_name)}${currencyIn(row)}`,
  }));
}

function kindOf(row: Readonly<Record<string, unknown>>): Kind {
  return {
    name: orNotGiven(label(row.name)),
    lots: Number(row.lots),
    sold: Number(row.sold),
    compared: Number(row.compared),
    ratio: maybe(row.ratio),
  };
}

/** A state with its lots and its prices against the national ones. */
export interface Region extends Kind {
  readonly code: string;
  readonly latitude: Maybe;
  readonly longitude: Maybe;
  readonly currency: string | null;
  readonly median: Maybe;
  readonly priced: number;
  readonly low: Maybe;
  readonly high: Maybe;
}

/** States, most lots first. */
export async function readRegions(connection: DuckDBConnection): Promise<readonly Region[]> {
  const found = await rows(
    connection,
    `select coalesce(state_name, state_code) as name, lots, lots_sold as sold, compared_lots as compared,
       price_ratio_median as ratio, country_iso, state_code, latitude, longitude, price_median, priced_lots,
       price_ratio_p25, price_ratio_p75, currency, ${apart('country_iso, state_code')}
     from regional_prices
     where level = 'state'
     order by lots desc, country_iso nulls last, state_code nulls last, currency`,
  );
  return found.map((row) => ({
    ...kindOf(row),
    name: `${capitals(label(row.name, 30))}, ${row.country_iso === null ? 'country not given' : label(row.country_iso, 12)}${currencyIn(row)}`,
    code: row.state_code === null ? '' : label(row.state_code, 4),
    latitude: maybe(row.latitude),
    longitude: maybe(row.longitude),
    currency: row.currency === null ? null : String(row.currency),
    median: maybe(row.price_median),
    priced: Number(row.priced_lots),
    low: maybe(row.price_ratio_p25),
    high: maybe(row.price_ratio_p75),
  }));
}

/** The feed writes names of states in small letters here and there. */
const capitals = (name: string): string =>
  name === 'not given' ? 'State not given' : name.replaceAll(/\b\p{Ll}/gu, (letter) => letter.toUpperCase());

/** Of rows that only their currency tells apart, the currency as the column `apart`; null in all others. */
export const apart = (columns: string): string =>
  `case when count(*) over (partition by ${columns}) > 1 then coalesce(currency, 'currency not known') end as apart`;

/** What {@link apart} found, to be put behind a name. */
export const currencyIn = (row: Readonly<Record<string, unknown>>): string =>
  row.apart === null ? '' : `, ${row.apart}`;

/** Lots by the currency of their amounts. */
export interface CurrencyLots {
  /** Null where it is not known. */
  readonly currency: string | null;
  readonly lots: number;
}

/** In which currencies the lots are, most lots first. */
export async function readCurrencies(connection: DuckDBConnection): Promise<readonly CurrencyLots[]> {
  const found = await rows(
    connection,
    'select currency, sum(lots) as lots from currencies group by currency order by lots desc, currency',
  );
  return found.map(({ currency, lots }) => ({
    currency: currency === null ? null : String(currency),
    lots: Number(lots),
  }));
}

/** A DATE or TIMESTAMPTZ of a row. */
export function dateOf(value: unknown): Date {
  return value instanceof Date ? value : new Date(String(value));
}
