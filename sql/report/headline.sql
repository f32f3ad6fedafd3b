-- The figures at the top, as one snapshot has them. The first day of a lake has no new lots, since all are new.
-- observed_from is set if some source was not observed for the whole 30 days; sales count from then on. The currency is
-- the known one of most sales. A figure of fewer values than the minimum group is null.
with last_run as (
    select as_of as run_at, minimum_group from dim_settings
),
last_day as (
    select sum(active_lots) as active_lots, sum(new_lots) as new_lots, sum(archived_lots) as left_lots
    from inventory_daily
    where day = (select max(day) from inventory_daily)
),
observed as (
    select max(observed_from) as observed_from from observed_spans where domain_id <> 12
),
lately as (
    select outcome, price, currency, is_observed, sale_date
    from sales
    where sale_date > (select run_at from last_run) - interval 30 day
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
    case when observed_from > run_at - interval 30 day then observed_from end as observed_from,
    case when offered >= minimum_group then sold / nullif(offered, 0) end as sell_through,
    case when priced >= minimum_group then price_median end as price_median
from last_run, last_day, observed, recent, coming
left join recent_prices on true
