with settings as (
    select 5 as minimum_group
),
held_attempts as (
    select
        sale_month as month,
        domain_id,
        domain_name,
        manufacturer_id,
        manufacturer_name,
        model_id,
        model_name,
        generation_id,
        generation_name,
        outcome,
        price
    from trusted_prices
    where outcome <> 'upcoming'
),
monthly as (
    select
        month,
        domain_id,
        max(domain_name) as domain_name,
        manufacturer_id,
        max(manufacturer_name) as manufacturer_name,
        model_id,
        max(model_name) as model_name,
        generation_id,
        max(generation_name) as generation_name,
        count(case when outcome <> 'unresolved' then 1 end) as lots_offered,
        count(case when outcome = 'unresolved' then 1 end) as lots_unresolved,
        count(case when outcome = 'sold' then 1 end) as lots_sold,
        count(price) as priced_lots,
        avg(price) as price_mean,
        percentile_cont(0.1) within group (order by price) as price_p10,
        percentile_cont(0.25) within group (order by price) as price_p25,
        percentile_cont(0.5) within group (order by price) as price_median,
        percentile_cont(0.75) within group (order by price) as price_p75,
        percentile_cont(0.9) within group (order by price) as price_p90
    from held_attempts
    group by month, domain_id, manufacturer_id, model_id, generation_id
),
priced as (
    select month, domain_id, manufacturer_id, model_id, generation_id, price
    from held_attempts
    where price is not null
),
spread as (
    -- each price counts for its own month and for the two after it
    select month, domain_id, manufacturer_id, model_id, generation_id, price from priced
    union all
    select cast(month + interval '1' month as date), domain_id, manufacturer_id, model_id, generation_id, price
    from priced
    union all
    select cast(month + interval '2' month as date), domain_id, manufacturer_id, model_id, generation_id, price
    from priced
),
quarterly as (
    select
        month,
        domain_id,
        manufacturer_id,
        model_id,
        generation_id,
        count(*) as priced_lots_3m,
        percentile_cont(0.5) within group (order by price) as price_median_3m
    from spread
    group by month, domain_id, manufacturer_id, model_id, generation_id
),
large_enough as (
    -- statistics of a handful of prices say more about the lots than about the market
    select
        monthly.month,
        monthly.domain_id,
        monthly.domain_name,
        monthly.manufacturer_id,
        monthly.manufacturer_name,
        monthly.model_id,
        monthly.model_name,
        monthly.generation_id,
        monthly.generation_name,
        monthly.lots_offered,
        monthly.lots_unresolved,
        monthly.lots_sold,
        monthly.priced_lots,
        coalesce(quarterly.priced_lots_3m, 0) as priced_lots_3m,
        case when monthly.priced_lots >= settings.minimum_group then monthly.price_mean end as price_mean,
        case when monthly.priced_lots >= settings.minimum_group then monthly.price_p10 end as price_p10,
        case when monthly.priced_lots >= settings.minimum_group then monthly.price_p25 end as price_p25,
        case when monthly.priced_lots >= settings.minimum_group then monthly.price_median end as price_median,
        case when monthly.priced_lots >= settings.minimum_group then monthly.price_p75 end as price_p75,
        case when monthly.priced_lots >= settings.minimum_group then monthly.price_p90 end as price_p90,
        case when quarterly.priced_lots_3m >= settings.minimum_group then quarterly.price_median_3m end as price_median_3m
    from monthly
    cross join settings
    left join quarterly
        on quarterly.month = monthly.month
        and quarterly.domain_id = monthly.domain_id
        and quarterly.manufacturer_id is not distinct from monthly.manufacturer_id
        and quarterly.model_id is not distinct from monthly.model_id
        and quarterly.generation_id is not distinct from monthly.generation_id
),
compared as (
    select
        *,
        lag(month) over (
            partition by domain_id, manufacturer_id, model_id, generation_id order by month
        ) as last_month,
        lag(price_median) over (
            partition by domain_id, manufacturer_id, model_id, generation_id order by month
        ) as last_median
    from large_enough
),
final as (
    select
        month,
        domain_id,
        domain_name,
        manufacturer_id,
        manufacturer_name,
        model_id,
        model_name,
        generation_id,
        generation_name,
        lots_offered,
        lots_unresolved,
        lots_sold,
        case when lots_offered > 0 then cast(lots_sold as double) / lots_offered end as sell_through,
        priced_lots,
        'USD' as currency,
        round(price_mean, 2) as price_mean,
        round(price_median, 2) as price_median,
        round(price_p10, 2) as price_p10,
        round(price_p25, 2) as price_p25,
        round(price_p75, 2) as price_p75,
        round(price_p90, 2) as price_p90,
        case when last_month = cast(month - interval '1' month as date) then price_median / last_median - 1 end
            as price_median_change,
        priced_lots_3m,
        round(price_median_3m, 2) as price_median_3m
    from compared
)
select * from final
