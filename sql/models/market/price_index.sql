with levels as (
    select
        markets.market,
        markets.currency,
        case
            when segments.segment is null then 'all'
            when segments.segment = 'domain_id' then 'source'
            when segments.segment = 'manufacturer_id' then 'manufacturer'
            else segments.segment
        end as segment,
        coalesce(segments.level, 'all') as level,
        index_levels.month as month_number,
        cast(first_month + to_months(cast(index_levels.month as integer)) as date) as priced_month,
        date_part('year', first_month + to_months(cast(index_levels.month as integer))) as year,
        date_part('month', first_month + to_months(cast(index_levels.month as integer))) as calendar_month,
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
    select market, currency, year, sum(prices) as prices
    from levels
    where segment = 'all'
    group by market, currency, year
),
base_years as (
    -- the first year with enough prices to rest on; the index is 100 on its average
    select market, currency, min(year) as base_year from years where prices >= 100 group by market, currency
),
in_base as (
    select *, case when year = base_year then prices else 0 end as base_prices
    from levels
    left join base_years using (market, currency)
),
shared as (
    select
        *,
        case when base_prices > 0 then base_prices / sum(base_prices) over of_level else 0 end as base_share
    from in_base
    window of_level as (partition by market, currency, segment, level)
),
based as (
    select
        *,
        sum(base_share) over of_level as base_known,
        log_level - sum(base_share * log_level) over of_level as log_index,
        repeat_level - sum(coalesce(base_share * repeat_level, 0)) over of_level
            / nullif(sum(case when repeat_level is null then 0 else base_share end) over of_level, 0) as log_repeat,
        sqrt(variance * (1 - 2 * base_share) + sum(base_share * base_share * variance) over of_level) as index_deviation,
        enough(prices) and enough(max(prices) over month_before) as has_change,
        log_level - max(log_level) over month_before as log_change,
        sqrt(variance + max(variance) over month_before) as change_deviation
    from shared
    window
        of_level as (partition by market, currency, segment, level),
        month_before as (
            partition by market, currency, segment, level
            order by month_number nulls last
            range between 1 preceding and 1 preceding
        )
),
averaged as (
    -- the average of the year around a month, which holds each calendar month once
    select
        *,
        (avg(log_index) over half_before + avg(log_index) over half_after) / 2 as log_year,
        least(count(*) over half_before, count(*) over half_after) as year_months,
        count(*) over (partition by market, currency, segment, level) as months
    from based
    window
        half_before as (
            partition by market, currency, segment, level
            order by month_number nulls last
            range between 6 preceding and 5 following
        ),
        half_after as (
            partition by market, currency, segment, level
            order by month_number nulls last
            range between 5 preceding and 6 following
        )
),
seasons as (
    select market, currency, segment, level, calendar_month, avg(log_index - log_year) as log_season
    from averaged
    where year_months = 12 and months >= 24
    group by all
),
centered as (
    select
        *,
        log_season - avg(log_season) over of_level as season,
        count(*) over of_level as calendar_months
    from seasons
    window of_level as (partition by market, currency, segment, level)
),
shown as (
    select
        *,
        base_known > 0.5 and enough(prices) as has_index,
        enough(repeat_prices) as has_repeat,
        case when segment = 'source' then cast(nullif(level, 'unknown') as bigint) end as domain_id,
        case when segment = 'manufacturer' then cast(nullif(level, 'unknown') as bigint) end as manufacturer_id
    from averaged
    left join centered using (market, currency, segment, level, calendar_month)
    left join price_medians using (market, currency, segment, level, priced_month)
)
select
    market,
    currency,
    segment,
    level,
    case segment
        when 'source' then domain_name
        when 'manufacturer' then coalesce(manufacturer_name, 'unknown')
        else level
    end as name,
    priced_month,
    prices,
    priced_month < month_of(as_of) as is_complete,
    case when has_index then 100 * exp(log_index) end as index,
    case when has_index then 100 * exp(log_index - margin_95(index_deviation)) end as index_low,
    case when has_index then 100 * exp(log_index + margin_95(index_deviation)) end as index_high,
    case when has_change then exp(log_change) - 1 end as index_change,
    case when has_change then exp(log_change - margin_95(change_deviation)) - 1 end as index_change_low,
    case when has_change then exp(log_change + margin_95(change_deviation)) - 1 end as index_change_high,
    case when has_index and calendar_months = 12 then 100 * exp(log_index - season) end as index_adjusted,
    repeat_prices,
    case when has_repeat then 100 * exp(log_repeat) end as index_repeat,
    case when has_repeat then 100 * exp(log_repeat - margin_95(repeat_deviation)) end as index_repeat_low,
    case when has_repeat then 100 * exp(log_repeat + margin_95(repeat_deviation)) end as index_repeat_high,
    case when enough(prices) then money(price_median) end as price_median
from shown
cross join dim_settings
left join dim_sources using (domain_id)
left join dim_manufacturers using (manufacturer_id)
