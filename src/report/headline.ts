import type { DuckDBConnection } from '@duckdb/node-api';
import { type Row, row } from '../duck/session.js';
import { count, dateOf, day, type Maybe, maybe, money, NONE, percent, plural } from './format.js';
import type { Tile } from './page.js';

/** Days before the run that the figures on sales cover. */
const WINDOW_DAYS = 30;

/**
 * The figures at the top, as one snapshot has them. The first day of a lake has no new lots, since all are new.
 * `observed_from` is set if some source was not observed for the whole window; sales count from then on. The currency is
 * the known one of most sales. A figure of fewer values than the minimum group is null.
 */
const HEADLINE = `
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
  select
    run_at, minimum_group, active_lots, new_lots, left_lots, sold, offered, upcoming, currency,
    coalesce(priced, 0) as priced,
    case when observed_from > run_at - interval ${WINDOW_DAYS} day then observed_from end as observed_from,
    case when offered >= minimum_group then sold / nullif(offered, 0) end as sell_through,
    case when priced >= minimum_group then price_median end as price_median
  from last_run, last_day, observed, recent, coming left join recent_prices on true`;

/** Tables that the figures at the top come from. */
export const HEADLINE_TABLES = ['runs', 'sales', 'inventory_daily', 'observed_spans'] as const;

/** Reads the figures at the top from a snapshot whose tables have their names. */
export const readHeadline = (connection: DuckDBConnection): Promise<Row> => row(connection, HEADLINE);

/** The figures at the top, each with its change since the run before, if its snapshot is kept. */
export function headlineTiles(now: Row, before: Row | undefined): Tile[] {
  const short = (at: unknown): string => day(dateOf(at)).replace(/ \d{4}$/, '');
  const arrived = `New on ${short(now.run_at)}`;
  const since = now.observed_from === null ? undefined : `since ${short(now.observed_from)}`;
  const moved = (figure: string, write: (difference: number) => string): string =>
    change(maybe(now[figure]), maybe(before?.[figure]), write);
  const amount = (value: unknown): string =>
    now.currency === null ? NONE : money(value, String(now.currency));
  return [
    tile('Active lots', count(now.active_lots), moved('active_lots', counted)),
    now.new_lots === null
      ? { name: arrived, value: 'first day', isWord: true, change: 'all lots are new' }
      : tile(arrived, count(now.new_lots), `and ${count(now.left_lots)} left`),
    tile(`Sold ${since ?? `in ${WINDOW_DAYS} days`}`, count(now.sold), moved('sold', counted)),
    orTooFewValues(
      now.sell_through,
      tile(
        `Sell-through${since === undefined ? `, ${WINDOW_DAYS} days` : ` ${since}`}`,
        percent(now.sell_through),
        moved('sell_through', (points) => `${signed(points, (size) => (size * 100).toFixed(1))} points`),
      ),
      plural(now.offered, 'lot'),
    ),
    orTooFewValues(
      now.price_median,
      tile(
        `Median price, ${WINDOW_DAYS} days`,
        amount(now.price_median),
        now.currency === before?.currency
          ? moved('price_median', (difference) => signed(difference, amount))
          : '',
      ),
      plural(now.priced, 'price'),
    ),
    tile('Auctions to come', count(now.upcoming), moved('upcoming', counted)),
  ];
}

const tile = (name: string, value: string, change: string): Tile => ({ name, value, isWord: false, change });

/** A figure, or `too few` with the values that there are. */
const orTooFewValues = (value: unknown, shown: Tile, values: string): Tile =>
  maybe(value) === null ? { name: shown.name, value: 'too few', isWord: true, change: values } : shown;

/** How a figure moved since the run before; empty where that is not known. */
function change(now: Maybe, before: Maybe, write: (difference: number) => string): string {
  if (now === null || before === null) return '';
  return now === before ? 'unchanged' : write(now - before);
}

const signed = (difference: number, write: (size: number) => string): string =>
  `${difference < 0 ? '−' : '+'}${write(Math.abs(difference))}`;

const counted = (difference: number): string => signed(difference, count);
