with segmented as (
    select
        market,
        currency,
        priced_month,
        cast(domain_id as string) as source,
        coalesce(cast(manufacturer_id as string), 'unknown') as manufacturer,
        body_type,
        age_band,
        price
    from price_inputs
    left join price_doubts using (lot_id)
    where price is not null and reason is null
)
-- one row a level of one segment and a month; the columns of the other segments are null
select
    market,
    currency,
    priced_month,
    case
        when source is not null then 'source'
        when manufacturer is not null then 'manufacturer'
        when body_type is not null then 'body_type'
        when age_band is not null then 'age_band'
        else 'all'
    end as segment,
    coalesce(source, manufacturer, body_type, age_band, 'all') as level,
    median(price) as price_median
from segmented
group by grouping sets (
    (market, currency, priced_month),
    (market, currency, priced_month, source),
    (market, currency, priced_month, manufacturer),
    (market, currency, priced_month, body_type),
    (market, currency, priced_month, age_band)
)
