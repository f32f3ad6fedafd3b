-- States, most lots first. Where two rows differ by currency alone, apart is that currency.
select
    *,
    coalesce(state_name, state_code) as state,
    price_ratio_p25 as low,
    price_ratio_median as middle,
    price_ratio_p75 as high,
    compared_lots as based_on,
    case when currency is not null or priced_lots = 0 then priced_lots end as priced_in_currency,
    case when currency is null and priced_lots <> 0 then 'currency not known' end as no_currency,
    case
        when count(*) over (partition by country_iso, state_code) > 1 then coalesce(currency, 'currency not known')
    end as apart
from regional_prices
where level = 'state'
order by lots desc, country_iso nulls last, state_code nulls last, currency
