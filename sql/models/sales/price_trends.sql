with generation_names as (
    select generation_id, max(trim(generation_name)) as generation_name from vehicles group by generation_id
),
held_attempts as (
    select
        sale_month as month,
        domain_id,
        manufacturer_id,
        model_id,
        generation_id,
        currency,
        -- lots sold before the lake began had left: known prices count, but outcomes only if observed
        case when is_observed then outcome end as outcome,
        price,
        -- an amount without a known currency counts as a lot, but enters no statistic
        case when currency is not null then price end as known_price
    from sales
    where outcome <> 'upcoming'
),
months as (
    -- has the same months and sources as this mart
    select month, domain_id, observed, case when observed <> 'none' then 1 end as counts from sell_through
),
monthly as (
    select
        month,
        domain_id,
        manufacturer_id,
        model_id,
        generation_id,
        currency,
        count(case when outcome <> 'unresolved' then 1 end) as lots_offered,
        count(case when outcome = 'unresolved' then 1 end) as lots_unresolved,
        count(case when outcome = 'sold' then 1 end) as lots_sold,
        count(price) as priced_lots,
        avg(known_price) as price_mean,
        percentile_cont(0.1) within group (order by known_price) as price_p10,
        percentile_cont(0.25) within group (order by known_price) as price_p25,
        percentile_cont(0.5) within group (order by known_price) as price_median,
        percentile_cont(0.75) within group (order by known_price) as price_p75,
        percentile_cont(0.9) within group (order by known_price) as price_p90
    from held_attempts
    group by month, domain_id, manufacturer_id, model_id, generation_id, currency
),
priced as (
    select month, domain_id, manufacturer_id, model_id, generation_id, currency, known_price
    from held_attempts
    where price is not null
),
prices_by_window as (
    -- each price counts for its own month and the two months after
    select month, domain_id, manufacturer_id, model_id, generation_id, currency, known_price from priced
    union all
    select
        cast(month + interval '1' month as date), domain_id, manufacturer_id, model_id, generation_id, currency, known_price
    from priced
    union all
    select
        cast(month + interval '2' month as date), domain_id, manufacturer_id, model_id, generation_id, currency, known_price
    from priced
),
quarterly as (
    select
        month,
        domain_id,
        manufacturer_id,
        model_id,
        generation_id,
        currency,
        count(*) as priced_lots_3m,
        percentile_cont(0.5) within group (order by known_price) as price_median_3m
    from prices_by_window
    group by month, domain_id, manufacturer_id, model_id, generation_id, currency
),
large_enough as (
    -- a handful of prices says more about the lots than about the market
    select
        monthly.month,
        monthly.domain_id,
        monthly.manufacturer_id,
        monthly.model_id,
        monthly.generation_id,
        monthly.currency,
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
    cross join dim_settings as settings
    left join quarterly
        on quarterly.month = monthly.month
        and quarterly.domain_id = monthly.domain_id
        and quarterly.manufacturer_id is not distinct from monthly.manufacturer_id
        and quarterly.model_id is not distinct from monthly.model_id
        and quarterly.generation_id is not distinct from monthly.generation_id
        and quarterly.currency is not distinct from monthly.currency
),
compared as (
    select
        *,
        lag(month) over (
            partition by domain_id, manufacturer_id, model_id, generation_id, currency
            order by month nulls last
        ) as last_month,
        lag(price_median) over (
            partition by domain_id, manufacturer_id, model_id, generation_id, currency
            order by month nulls last
        ) as last_median
    from large_enough
),
final as (
    select
        compared.month,
        compared.domain_id,
        source_names.domain_name,
        compared.manufacturer_id,
        manufacturer_names.manufacturer_name,
        compared.model_id,
        model_names.model_name,
        compared.generation_id,
        generation_names.generation_name,
        months.observed,
        compared.lots_offered * months.counts as lots_offered,
        compared.lots_unresolved * months.counts as lots_unresolved,
        compared.lots_sold * months.counts as lots_sold,
        case when compared.lots_offered > 0 then cast(compared.lots_sold as double) / compared.lots_offered end
            as sell_through,
        compared.priced_lots,
        compared.currency,
        round(compared.price_mean * 100) / 100 as price_mean,
        round(compared.price_median * 100) / 100 as price_median,
        round(compared.price_p10 * 100) / 100 as price_p10,
        round(compared.price_p25 * 100) / 100 as price_p25,
        round(compared.price_p75 * 100) / 100 as price_p75,
        round(compared.price_p90 * 100) / 100 as price_p90,
        case
            when compared.last_month = cast(compared.month - interval '1' month as date)
            then compared.price_median / compared.last_median - 1
        end as price_median_change,
        compared.priced_lots_3m,
        round(compared.price_median_3m * 100) / 100 as price_median_3m
    from compared
    inner join months on months.month = compared.month and months.domain_id = compared.domain_id
    left join dim_sources as source_names on source_names.domain_id = compared.domain_id
    left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = compared.manufacturer_id
    left join dim_models as model_names on model_names.model_id = compared.model_id
    left join generation_names on generation_names.generation_id = compared.generation_id
)
select * from final
