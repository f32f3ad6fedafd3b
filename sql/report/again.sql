-- What became of lots that came back to an auction, by the days since the attempt before, which did not sell them. The attempt at
-- which they came back was observed, and its result is settled; the one before is in the price history. The share that was sold
-- has the 95 % interval of Wilson.
with returns as (
    select
        domain_id,
        days_since_previous as waited,
        case
            when days_since_previous <= 7 then 1
            when days_since_previous <= 14 then 2
            when days_since_previous <= 30 then 3
            when days_since_previous <= 60 then 4
            else 5
        end as band,
        outcome = 'sold' as is_sold,
        -- the amounts of a lot are in one currency; null unless both are settled and plausible
        case when currency is not null then 1 + amount_change_share end as ratio
    from sales
    where attempt > 1 and is_observed and outcome in ('sold', 'not_sold', 'on_approval')
),
counted as (
    select
        domain_id,
        band,
        count(*) as lots,
        count(*) filter (where is_sold) as lots_sold,
        median(waited) as waited,
        count(ratio) as compared_lots,
        median(ratio) as ratio
    from returns
    group by grouping sets ((domain_id, band), (domain_id), ())
    having count(*) > 0
),
told as (
    select
        *,
        lots >= minimum_group as is_told,
        lots_sold / lots as share,
        3.8415 / lots as z,
        sqrt(z * share * (1 - share) + z * z / 4) as half
    from counted
    cross join (select minimum_group from dim_settings)
)
select
    case when band is null then 'all' else 'days' end as level,
    domain_id,
    coalesce(domain_name, 'all sources') as domain_name,
    ['4 to 7', '8 to 14', '15 to 30', '31 to 60', 'more than 60'][band] as days,
    lots,
    lots as based_on,
    lots_sold,
    case when is_told then share end as middle,
    case when is_told then (share + z / 2 - half) / (1 + z) end as interval_low,
    case when is_told then (share + z / 2 + half) / (1 + z) end as interval_high,
    case when is_told then waited end as waited_median,
    compared_lots,
    case when compared_lots >= minimum_group then ratio end as ratio_median
from told
left join dim_sources using (domain_id)
order by domain_id nulls first, band
