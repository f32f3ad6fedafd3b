-- States, most lots first. Where two rows differ by currency alone, apart is that currency. alike is what lots bring that are
-- alike, as a multiple of the price in the state of most prices; that state itself has no interval.
with effects as (
    select currency, level, reference, effect, effect_low, effect_high
    from price_factors
    where market = 'auction' and factor = 'state' and prices >= (select minimum_group from dim_settings)
)
select
    regional_prices.*,
    coalesce(state_name, state_code) as state,
    price_ratio_p25 as low,
    price_ratio_median as middle,
    price_ratio_p75 as high,
    compared_lots as based_on,
    case when regional_prices.currency is not null or priced_lots = 0 then priced_lots end as priced_in_currency,
    case when regional_prices.currency is null and priced_lots <> 0 then 'currency not known' end as no_currency,
    case
        when count(*) over (partition by country_iso, state_code) > 1 then coalesce(regional_prices.currency, 'currency not known')
    end as apart,
    effect as alike,
    case when effects.level <> reference then effect_low end as alike_low,
    case when effects.level <> reference then effect_high end as alike_high,
    reference as alike_reference
from regional_prices
left join effects
    on effects.currency = regional_prices.currency
    and effects.level = country_iso || ' ' || coalesce(state_code, 'unknown')
where regional_prices.level = 'state'
order by lots desc, country_iso nulls last, state_code nulls last, regional_prices.currency
