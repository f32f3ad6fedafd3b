with generation_names as (
    select generation_id, max(trim(generation_name)) as generation_name from vehicles group by generation_id
),
past_attempts as (
    select
        sale_month,
        -- a null would be taken for a level above
        coalesce(domain_id, -1) as domain_id,
        coalesce(manufacturer_id, -1) as manufacturer_id,
        coalesce(model_id, -1) as model_id,
        coalesce(generation_id, -1) as generation_id,
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
    group by grouping sets (
        (sale_month, currency),
        (sale_month, currency, domain_id),
        (sale_month, currency, domain_id, manufacturer_id),
        (sale_month, currency, domain_id, manufacturer_id, model_id),
        (sale_month, currency, domain_id, manufacturer_id, model_id, generation_id)
    )
    having bool_or(is_of_month)
),
main_currency as (
    select max_by(currency, prices) as market_currency from price_factors where market = 'auction' and factor = 'base'
),
large_enough as (
    -- a handful of prices says more about the lots than about the market
    select
        *,
        -- an index needs no currency: what lots of an unknown one bring moves with the market
        coalesce(currency, market_currency) as index_currency,
        case
            when domain_id is null then 0
            when manufacturer_id is null then 1
            when model_id is null then 2
            when generation_id is null then 3
            else 4
        end as depth,
        coalesce('/' || domain_id, '') || coalesce('/' || manufacturer_id, '') || coalesce('/' || model_id, '')
            || coalesce('/' || generation_id, '') as place,
        case when enough(priced_lots) then price_median end as shown_median
    from monthly
    cross join main_currency
),
months as (
    -- has the same months and sources as this mart; all sources are observed as each of them is
    select
        sale_month,
        domain_id,
        case
            when count(*) filter (where observed <> 'whole') = 0 then 'whole'
            when count(*) filter (where observed <> 'none') > 0 then 'part'
            else 'none'
        end as observed,
        case when count(*) filter (where observed <> 'none') > 0 then 1 end as counts
    from sell_through
    where level = 'month'
    group by grouping sets ((sale_month), (sale_month, domain_id))
),
compared as (
    select
        *,
        shown_median / max(shown_median) over month_before - 1 as price_median_change
    from large_enough
    window month_before as (
        partition by depth, domain_id, manufacturer_id, model_id, generation_id, currency
        order by sale_month nulls last
        range between interval '1' month preceding and interval '1' month preceding
    )
),
depths as (
    select *
    from (
        values (0, 'all', 'all'), (1, 'source', 'source'), (2, 'make', 'manufacturer'), (3, 'model', 'model'),
            (4, 'generation', 'generation')
    ) as named (depth, level, level_of_effects)
),
effects as (
    -- what a month does to the prices of a group, as a logarithm
    select
        currency,
        place,
        cast(value || '-01' as date) as sale_month,
        own_weight,
        ln(effect) as log_effect,
        -- an interval of 95 % is 3.92 standard deviations wide
        ln(effect_high / effect_low) * ln(effect_high / effect_low) / (3.92 * 3.92) as variance
    from price_levels
    where market = 'auction' and subject = 'month'
),
spreads as (
    -- how far the groups of a level lie from all prices
    select
        currency,
        depth,
        sum(max(level_deviation * level_deviation)) over (partition by currency order by depth nulls last) as spread
    from price_levels
    inner join depths on level_of_effects = price_levels.level
    where market = 'auction' and subject = 'month'
    group by currency, depth
),
moments as (
    -- the months of a group, and those before them
    select index_currency as currency, depth, place, domain_id, manufacturer_id, model_id, sale_month
    from large_enough
    union
    select index_currency, depth, place, domain_id, manufacturer_id, model_id, cast(sale_month - interval '1' month as date)
    from large_enough
),
lines as (
    -- a group with itself and those above it
    select
        moments.currency,
        moments.place as of_place,
        moments.depth as of_depth,
        moments.sale_month,
        depths.depth,
        case depths.depth
            when 0 then ''
            when 1 then '/' || domain_id
            when 2 then '/' || domain_id || '/' || manufacturer_id
            when 3 then '/' || domain_id || '/' || manufacturer_id || '/' || model_id
            else moments.place
        end as place
    from moments
    inner join depths on depths.depth <= moments.depth
),
nearest as (
    -- the nearest level that has prices in the month speaks for those below it; all share the error of the level all
    select
        currency,
        of_place as place,
        of_depth as depth,
        sale_month,
        max(depth) as index_depth,
        max_by(own_weight, depth) as own_weight,
        max_by(log_effect, depth) - min_by(log_effect, depth) as log_beside_all,
        greatest(max_by(variance, depth) - min_by(variance, depth), 0) as variance
    from lines
    inner join effects using (currency, place, sale_month)
    group by currency, of_place, of_depth, sale_month
),
pooled as (
    -- what a group has beside the level that speaks for it is unknown, but no wider than such groups lie apart
    select
        nearest.*,
        level_of_index.level as index_level,
        variance + of_group.spread - of_index.spread as variance_beside_all,
        cast(sale_month + interval '1' month as date) as month_after
    from nearest
    inner join spreads as of_group on of_group.currency = nearest.currency and of_group.depth = nearest.depth
    inner join spreads as of_index on of_index.currency = nearest.currency and of_index.depth = index_depth
    inner join depths as level_of_index on level_of_index.depth = index_depth
),
market_months as (
    select
        currency,
        priced_month as sale_month,
        ln(index) as log_index,
        ln(index_high / index_low) * ln(index_high / index_low) / (3.92 * 3.92) as variance,
        ln(1 + index_change) as log_change,
        ln((1 + index_change_high) / (1 + index_change_low)) * ln((1 + index_change_high) / (1 + index_change_low))
            / (3.92 * 3.92) as change_variance
    from price_index
    where market = 'auction' and segment = 'all'
),
indexed as (
    select
        compared.*,
        depths.level,
        pooled.index_level,
        pooled.own_weight,
        log_index + pooled.log_beside_all as log_index,
        1.96 * sqrt(market_months.variance + pooled.variance_beside_all) as index_half,
        log_change + pooled.log_beside_all - before.log_beside_all as log_change,
        1.96 * sqrt(change_variance + pooled.variance_beside_all + before.variance_beside_all) as change_half
    from compared
    inner join depths on depths.depth = compared.depth
    left join market_months
        on market_months.currency = index_currency and market_months.sale_month = compared.sale_month
    left join pooled
        on pooled.currency = index_currency
        and pooled.place = compared.place
        and pooled.sale_month = compared.sale_month
    left join pooled as before
        on before.currency = index_currency
        and before.place = compared.place
        and before.month_after = compared.sale_month
)
select
    level,
    indexed.sale_month,
    nullif(indexed.domain_id, -1) as domain_id,
    domain_name,
    nullif(indexed.manufacturer_id, -1) as manufacturer_id,
    manufacturer_name,
    nullif(indexed.model_id, -1) as model_id,
    model_name,
    nullif(indexed.generation_id, -1) as generation_id,
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
    case when enough(priced_lots_3m) then money(price_median_3m) end as price_median_3m,
    exp(log_index) as price_index,
    exp(log_index - index_half) as price_index_low,
    exp(log_index + index_half) as price_index_high,
    exp(log_change) - 1 as price_index_change,
    exp(log_change - change_half) - 1 as price_index_change_low,
    exp(log_change + change_half) - 1 as price_index_change_high,
    case when log_index is not null then index_level end as index_level,
    case
        when log_index is null then null
        when index_level = level then own_weight
        else 0
    end as index_own_weight
from indexed
inner join months on months.sale_month = indexed.sale_month and months.domain_id is not distinct from indexed.domain_id
left join dim_sources on dim_sources.domain_id = indexed.domain_id
left join dim_manufacturers on dim_manufacturers.manufacturer_id = indexed.manufacturer_id
left join dim_models on dim_models.model_id = indexed.model_id
left join generation_names on generation_names.generation_id = indexed.generation_id
