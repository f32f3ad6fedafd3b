with generation_names as (
    select generation_id, max(trim(generation_name)) as generation_name from vehicles group by generation_id
),
past_attempts as (
    select
        sale_month,
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
attempts_by_month as (
    -- each attempt counts for its own month, and its price also for the two months after
    select *, true as is_of_month, price as price_3m, known_price as known_price_3m from past_attempts
    union all
    select
        cast(sale_month + months_later * interval '1' month as date),
        domain_id,
        manufacturer_id,
        model_id,
        generation_id,
        currency,
        null,
        null,
        null,
        false,
        price,
        known_price
    from past_attempts
    cross join (values (1), (2)) as later_months(months_later)
    where price is not null
),
monthly as (
    select
        sale_month,
        domain_id,
        manufacturer_id,
        model_id,
        generation_id,
        currency,
        count(*) filter (where outcome <> 'unresolved') as lots_offered,
        count(*) filter (where outcome = 'unresolved') as lots_unresolved,
        count(*) filter (where outcome = 'sold') as lots_sold,
        count(price) as priced_lots,
        avg(known_price) as price_mean,
        median(known_price) as price_median,
        percentile_cont(0.1) within group (order by known_price) as price_p10,
        percentile_cont(0.25) within group (order by known_price) as price_p25,
        percentile_cont(0.75) within group (order by known_price) as price_p75,
        percentile_cont(0.9) within group (order by known_price) as price_p90,
        count(price_3m) as priced_lots_3m,
        median(known_price_3m) as price_median_3m
    from attempts_by_month
    group by all
    having bool_or(is_of_month)
),
large_enough as (
    -- a handful of prices says more about the lots than about the market
    select *, case when enough(priced_lots) then price_median end as shown_median
    from monthly
),
months as (
    -- has the same months and sources as this mart
    select sale_month, domain_id, observed, case when observed <> 'none' then 1 end as counts
    from sell_through
    where level = 'month'
),
compared as (
    select
        *,
        shown_median / max(shown_median) over month_before - 1 as price_median_change
    from large_enough
    window month_before as (
        partition by domain_id, manufacturer_id, model_id, generation_id, currency
        order by sale_month nulls last
        range between interval '1' month preceding and interval '1' month preceding
    )
)
select
    sale_month,
    domain_id,
    domain_name,
    manufacturer_id,
    manufacturer_name,
    model_id,
    model_name,
    generation_id,
    generation_name,
    observed,
    lots_offered * counts as lots_offered,
    lots_unresolved * counts as lots_unresolved,
    lots_sold * counts as lots_sold,
    lots_sold / nullif(lots_offered, 0) as sell_through,
    priced_lots,
    currency,
    case when enough(priced_lots) then money(price_mean) end as price_mean,
    money(shown_median) as price_median,
    case when enough(priced_lots) then money(price_p10) end as price_p10,
    case when enough(priced_lots) then money(price_p25) end as price_p25,
    case when enough(priced_lots) then money(price_p75) end as price_p75,
    case when enough(priced_lots) then money(price_p90) end as price_p90,
    price_median_change,
    priced_lots_3m,
    case when enough(priced_lots_3m) then money(price_median_3m) end as price_median_3m
from compared
inner join months using (sale_month, domain_id)
left join dim_sources using (domain_id)
left join dim_manufacturers using (manufacturer_id)
left join dim_models using (model_id)
left join generation_names using (generation_id)
