with levels as (
    select
        index_levels.market as number,
        markets.market,
        markets.currency,
        case
            when segments.segment is null then 'all'
            when segments.segment = 'domain_id' then 'source'
            when segments.segment = 'manufacturer_id' then 'manufacturer'
            else segments.segment
        end as segment,
        coalesce(segments.level, 'all') as level,
        index_levels.month as place,
        cast(markets.first_month + to_months(cast(index_levels.month as integer)) as date) as priced_month,
        index_levels.log_level,
        repeat_levels.log_level as repeat_level,
        repeat_levels.deviation as repeat_deviation,
        cast(repeat_levels.prices as bigint) as repeat_prices,
        index_levels.deviation * index_levels.deviation as variance,
        cast(index_levels.prices as bigint) as prices
    from fit.index as index_levels
    inner join fit.markets as markets on markets.number = index_levels.market
    left join fit.segments as segments
        on segments.market = index_levels.market
        and segments.place = index_levels.segment
        and segments.code = index_levels.code
    left join fit.repeat as repeat_levels
        on repeat_levels.market = index_levels.market
        and repeat_levels.month = index_levels.month
        and index_levels.segment = -1
),
years as (
    select market, currency, date_part('year', priced_month) as year, sum(prices) as prices
    from levels
    where segment = 'all'
    group by market, currency, date_part('year', priced_month)
),
base_years as (
    -- the first year with enough prices to rest on; the index is 100 on its average
    select market, currency, min(year) as base_year from years where prices >= 100 group by market, currency
),
in_base as (
    select levels.*, base_years.base_year, date_part('year', levels.priced_month) = base_years.base_year as is_base
    from levels
    left join base_years on base_years.market = levels.market and base_years.currency = levels.currency
),
shared as (
    select
        *,
        case when is_base then prices / sum(case when is_base then prices else 0 end) over segment_months else 0 end as base_share
    from in_base
    window segment_months as (partition by market, currency, segment, level)
),
based as (
    select
        *,
        sum(base_share) over segment_months as base_known,
        log_level - sum(base_share * log_level) over segment_months as log_index,
        repeat_level - sum(case when repeat_level is null then 0 else base_share * repeat_level end) over segment_months
            / nullif(sum(case when repeat_level is null then 0 else base_share end) over segment_months, 0) as log_repeat,
        sqrt(variance * (1 - 2 * base_share) + sum(base_share * base_share * variance) over segment_months) as index_deviation
    from shared
    window segment_months as (partition by market, currency, segment, level)
),
averaged as (
    -- the average of the year around a month, which holds each calendar month once
    select
        *,
        (
            avg(log_index) over (partition by market, currency, segment, level order by place nulls last range between 6 preceding and 5 following)
            + avg(log_index) over (partition by market, currency, segment, level order by place nulls last range between 5 preceding and 6 following)
        ) / 2 as log_year,
        least(
            count(*) over (partition by market, currency, segment, level order by place nulls last range between 6 preceding and 5 following),
            count(*) over (partition by market, currency, segment, level order by place nulls last range between 5 preceding and 6 following)
        ) as year_months,
        count(*) over (partition by market, currency, segment, level) as months
    from based
),
seasons as (
    select
        market,
        currency,
        segment,
        level,
        date_part('month', priced_month) as calendar_month,
        avg(log_index - log_year) as log_season
    from averaged
    where year_months = 12 and months >= 24
    group by market, currency, segment, level, date_part('month', priced_month)
),
centered as (
    select
        *,
        log_season - avg(log_season) over (partition by market, currency, segment, level) as season,
        count(*) over (partition by market, currency, segment, level) as calendar_months
    from seasons
),
medians as (
    select segment, level, market, currency, priced_month, percentile_cont(0.5) within group (order by price) as price_median
    from (
        select 'all' as segment, 'all' as level, market, currency, priced_month, price from price_inputs
        union all
        select 'source', cast(domain_id as string), market, currency, priced_month, price from price_inputs
        union all
        select 'manufacturer', coalesce(cast(manufacturer_id as string), 'unknown'), market, currency, priced_month, price from price_inputs
        union all
        select 'body_type', body_type, market, currency, priced_month, price from price_inputs
        union all
        select 'age_band', age_band, market, currency, priced_month, price from price_inputs
    )
    where price is not null
    group by segment, level, market, currency, priced_month
),
final as (
    select
        averaged.market,
        averaged.currency,
        averaged.segment,
        averaged.level,
        case averaged.segment
            when 'source' then source_names.domain_name
            when 'manufacturer' then coalesce(manufacturer_names.manufacturer_name, 'unknown')
            else averaged.level
        end as name,
        averaged.priced_month,
        averaged.prices,
        averaged.priced_month < cast(date_trunc('month', cast(settings.as_of as date)) as date) as is_complete,
        case when is_enough then 100 * exp(averaged.log_index) end as index,
        case when is_enough then 100 * exp(averaged.log_index - 1.96 * averaged.index_deviation) end as index_low,
        case when is_enough then 100 * exp(averaged.log_index + 1.96 * averaged.index_deviation) end as index_high,
        case when is_enough and centered.calendar_months = 12 then 100 * exp(averaged.log_index - centered.season) end as index_adjusted,
        averaged.repeat_prices,
        case when averaged.repeat_prices >= settings.minimum_group then 100 * exp(averaged.log_repeat) end as index_repeat,
        case
            when averaged.repeat_prices >= settings.minimum_group
            then 100 * exp(averaged.log_repeat - 1.96 * averaged.repeat_deviation)
        end as index_repeat_low,
        case
            when averaged.repeat_prices >= settings.minimum_group
            then 100 * exp(averaged.log_repeat + 1.96 * averaged.repeat_deviation)
        end as index_repeat_high,
        case when averaged.prices >= settings.minimum_group then round(medians.price_median * 100) / 100 end as price_median
    from (
        select averaged.*, averaged.base_known > 0.5 and averaged.prices >= minimum.minimum_group as is_enough
        from averaged
        cross join dim_settings as minimum
    ) as averaged
    cross join dim_settings as settings
    left join centered
        on centered.market = averaged.market and centered.currency = averaged.currency
        and centered.segment = averaged.segment and centered.level = averaged.level
        and centered.calendar_month = date_part('month', averaged.priced_month)
    left join medians
        on medians.market = averaged.market and medians.currency = averaged.currency
        and medians.segment = averaged.segment and medians.level = averaged.level and medians.priced_month = averaged.priced_month
    left join dim_sources as source_names
        on cast(source_names.domain_id as string) = case when averaged.segment = 'source' then averaged.level end
    left join dim_manufacturers as manufacturer_names
        on cast(manufacturer_names.manufacturer_id as string)
            = case when averaged.segment = 'manufacturer' then averaged.level end
)
select * from final
