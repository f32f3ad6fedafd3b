import type { DuckDBConnection } from '@duckdb/node-api';
import { row } from '../duck/session.js';
import { type Maybe, maybe } from './format.js';

/** Days back from the run that the figures on sales look. */
export const WINDOW_DAYS = 30;

const DAY = 86_400_000;

/** The figures at the top of a report, as one snapshot has them. */
export interface Headline {
  /** Start of the run that made the snapshot. */
  readonly at: Date;
  readonly minimumGroup: number;
  readonly activeLots: Maybe;
  /** Lots first seen on the last day; null on the first day, on which all are. */
  readonly newLots: Maybe;
  /** Lots that were seen to have left on the last day. */
  readonly leftLots: Maybe;
  /** From when on `sold` and `offered` count, where that is less than `WINDOW_DAYS` ago because a source was not observed before. */
  readonly observedFrom: Date | undefined;
  readonly sold: number;
  readonly offered: number;
  /** Null where fewer than `minimumGroup` were offered. */
  readonly sellThrough: Maybe;
  /** The known currency in which most lots were sold; null where none was. */
  readonly currency: string | null;
  /** Lots sold for a trusted price in it. */
  readonly priced: number;
  /** In it; null for fewer than `minimumGroup` prices. */
  readonly priceMedian: Maybe;
  readonly upcoming: number;
}

const SQL = `
  with
    last_run as (
      select max(started_at) as run_at, max_by(minimum_group, started_at) as minimum_group from runs
    ),
    last_day as (
      select
        sum(active_lots) as active_lots,
        sum(new_lots) as new_lots,
        sum(archived_lots) as left_lots
      from inventory_daily
      where day = (select max(day) from inventory_daily)
    ),
    observed as (
      select max(observed_from) as observed_from from observed_spans where domain_id <> 12
    ),
    lately as (
      select outcome, price, currency, is_observed, sale_date
      from sales
      where sale_date > (select run_at from last_run) - interval ${WINDOW_DAYS} day
        and sale_date <= (select run_at from last_run)
    ),
    recent as (
      select
        count(*) filter (where outcome = 'sold' and is_observed and sale_date >= observed_from) as sold,
        count(*) filter (
          where outcome in ('sold', 'not_sold', 'on_approval') and is_observed and sale_date >= observed_from
        ) as offered
      from lately, observed
    ),
    recent_prices as (
      select currency, count(*) as priced, median(price) as price_median
      from lately
      where price is not null and currency is not null
      group by currency
      order by priced desc, currency
      limit 1
    ),
    coming as (
      select count(*) as upcoming from sales where outcome = 'upcoming'
    )
  select * from last_run, last_day, observed, recent, coming left join recent_prices on true`;

/** Reads the figures from a snapshot whose tables are there by name. */
export async function readHeadline(connection: DuckDBConnection): Promise<Headline> {
  const found = await row(connection, SQL);
  const minimumGroup = Number(found.minimum_group);
  const [sold, offered, priced] = [Number(found.sold), Number(found.offered), Number(found.priced ?? 0)];
  const at = new Date(String(found.run_at instanceof Date ? found.run_at.toISOString() : found.run_at));
  const observedFrom = found.observed_from instanceof Date ? found.observed_from : undefined;
  const isShorter = observedFrom !== undefined && at.getTime() - observedFrom.getTime() < WINDOW_DAYS * DAY;
  return {
    at,
    minimumGroup,
    activeLots: maybe(found.active_lots),
    newLots: maybe(found.new_lots),
    leftLots: maybe(found.left_lots),
    observedFrom: isShorter ? observedFrom : undefined,
    sold,
    offered,
    sellThrough: offered < minimumGroup || offered === 0 ? null : sold / offered,
    currency: found.currency === null ? null : String(found.currency),
    priced,
    priceMedian: priced < minimumGroup ? null : maybe(found.price_median),
    upcoming: Number(found.upcoming),
  };
}
