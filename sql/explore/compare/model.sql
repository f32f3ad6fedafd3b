-- Figures of a make, or of a model of it: over its sources, the last six months and the main currency.
with trend as (
    select *, month_of((select as_of from dim_settings)) as this_month
    from price_trends
    where level = case when $model is null then 'make' else 'model' end
        and lower(manufacturer_name) = lower($make) and ($model is null or lower(model_name) = lower($model))
),
recent as (
    select * from trend where sale_month > this_month - interval 6 month
),
shares as (
    select sum(lots_offered) as n, sum(lots_sold) as k from recent
),
latest as (
    select *
    from recent
    where price_index is not null and currency is not null and enough(priced_lots) and index_own_weight > 0
    -- at each source, so that all that stand beside each other have the same
    qualify row_number() over (partition by domain_id order by sale_month desc, priced_lots desc) = 1
),
prices as (
    -- of the prices themselves: no median follows from those of the months
    select currency, count(*) as n, median(price) as middle, quantile_cont(price, 0.25) as low, quantile_cont(price, 0.75) as high
    from sales
    where outcome <> 'upcoming' and price is not null and currency is not null
        and sale_month > month_of((select as_of from dim_settings)) - interval 6 month
        and lower(manufacturer_name) = lower($make) and ($model is null or lower(model_name) = lower($model))
    group by currency
    having enough(count(*))
    order by n desc, currency
    limit 1
),
days as (
    select half_sold_by as middle, half_sold_by_low as low, half_sold_by_high as high, lots as n, domain_name
    from days_on_market
    where level = case when $model is null then 'make' else 'model' end
        and lower(manufacturer_name) = lower($make) and ($model is null or lower(model_name) = lower($model))
        and half_sold_by is not null
),
by_day as (
    select day, sold, sold_low, sold_high, lots, domain_name
    from sold_by_day
    where day in (30, 60) and level = case when $model is null then 'make' else 'model' end
        and lower(manufacturer_name) = lower($make) and ($model is null or lower(model_name) = lower($model))
)
select 'Median price, six months (quartiles)' as figure, 'money' as unit, middle as value, low, high, n as based_on, currency from prices
union all
select 'Price level of alike lots at ' || domain_name || ', ' || strftime(sale_month, '%b %Y') || ' (95%), 100 is the base year', 'tenths', price_index, price_index_low, price_index_high, priced_lots, null from latest
union all
-- also where nothing was observed: then it is said to be not known
select
    'Sold of offered, as far as observed in six months (95%)', 'share', case when enough(n) then k / n end,
    (k + 1.92) / (n + 3.84) - 1.96 * sqrt(k * (n - k) / n + 0.96) / (n + 3.84),
    (k + 1.92) / (n + 3.84) + 1.96 * sqrt(k * (n - k) / n + 0.96) / (n + 3.84), coalesce(n, 0), null
from shares
union all
select 'Half sold by day (95%), ' || domain_name, 'days', middle, low, high, n, null from days
union all
select * from (
    select 'Sold by day ' || day || ', as far as known (95%), ' || domain_name, 'share', sold, sold_low, sold_high, lots, null from by_day where sold is not null order by domain_name, day
)
