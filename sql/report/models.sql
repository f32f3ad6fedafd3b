-- The ten models with most prices of the last twelve months, in the known currency of most of them: all prices of a model
-- (level all), and its prices by month, by model year and by damage. The three quartiles are null below the minimum
-- group. The interval is the 95 % interval of the median by its ranks, which six prices have at least.
with settings as (
    select as_of, minimum_group from dim_settings
),
sold as (
    select
        s.manufacturer_id, s.manufacturer_name, s.model_id, s.model_name, s.currency, s.sale_month, s.year,
        d.damage_group, s.price
    from sales as s
    inner join lots as l on l.lot_id = s.lot_id
    inner join dim_damages as d on d.damage_name = coalesce(nullif(trim(l.damage_main_name), ''), 'unknown')
    where s.price is not null and s.model_id is not null
        and s.sale_date > (select as_of from settings) - interval 12 month
),
main_currency as (
    select currency from sold where currency is not null group by currency order by count(*) desc, currency limit 1
),
priced as (
    select * from sold where currency = (select currency from main_currency)
),
top as (
    select
        manufacturer_id, model_id,
        row_number() over (order by count(*) desc, manufacturer_id, model_id) as place
    from priced
    group by manufacturer_id, model_id
    order by place
    limit 10
),
grouped as (
    select
        case
            when grouping(sale_month) = 0 then 'month'
            when grouping(year) = 0 then 'year'
            when grouping(damage_group) = 0 then 'damage'
            else 'all'
        end as level,
        place, manufacturer_name, model_name, currency, sale_month, year, damage_group,
        count(*) as based_on,
        quantile_cont(price, [0.25, 0.5, 0.75]) as quartiles,
        list_sort(list(price)) as prices,
        greatest(1, round(based_on / 2 - 0.98 * sqrt(based_on)))::bigint as edge
    from priced inner join top using (manufacturer_id, model_id)
    group by grouping sets (
        (place, manufacturer_name, model_name, currency),
        (place, manufacturer_name, model_name, currency, sale_month),
        (place, manufacturer_name, model_name, currency, year),
        (place, manufacturer_name, model_name, currency, damage_group)
    )
),
judged as (
    select *, based_on >= (select minimum_group from settings) as is_enough from grouped
)
select
    level, place, manufacturer_name, model_name, currency, year, damage_group, based_on,
    sale_month as moment,
    case when is_enough then quartiles[1] end as low,
    case when is_enough then quartiles[2] end as middle,
    case when is_enough then quartiles[3] end as high,
    middle as value,
    case when is_enough and based_on > 5 then prices[edge] end as interval_low,
    case when is_enough and based_on > 5 then prices[based_on + 1 - edge] end as interval_high,
    case when sale_month + interval 1 month > (select as_of from settings) then 'so far' end as state
from judged
order by place, level, sale_month, year desc nulls last, based_on desc, damage_group
