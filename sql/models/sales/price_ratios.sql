with priced as (
    select lot_id, attempt, domain_id, manufacturer_id, model_id, year, currency, price
    from sales
    where price is not null
        and currency is not null
        and manufacturer_id is not null
        and model_id is not null
        and year is not null
),
ranked as (
    select
        *,
        row_number() over model_year as place,
        count(*) over (partition by domain_id, manufacturer_id, model_id, year, currency) as prices
    from priced
    window model_year as (partition by domain_id, manufacturer_id, model_id, year, currency order by price nulls last)
),
middle_prices as (
    -- the three middle prices; the median of all prices but one comes from two of them
    select
        domain_id,
        manufacturer_id,
        model_id,
        year,
        currency,
        max(case when place = floor(prices / 2) then price end) as low,
        max(case when place = floor(prices / 2) + 1 then price end) as middle,
        max(case when place = floor(prices / 2) + 2 then price end) as high
    from ranked
    group by domain_id, manufacturer_id, model_id, year, currency
),
compared as (
    -- compare each price with the others only: a median that includes the price would pull the ratio towards 1
    select
        ranked.lot_id,
        ranked.attempt,
        ranked.domain_id,
        ranked.manufacturer_id,
        ranked.model_id,
        ranked.year,
        ranked.currency,
        ranked.price,
        ranked.prices - 1 as other_prices,
        case
            when ranked.prices % 2 = 0 and ranked.place <= ranked.prices / 2 then middle_prices.middle
            when ranked.prices % 2 = 0 then middle_prices.low
            when ranked.place < (ranked.prices + 1) / 2 then (middle_prices.middle + middle_prices.high) / 2
            when ranked.place > (ranked.prices + 1) / 2 then (middle_prices.low + middle_prices.middle) / 2
            else (middle_prices.low + middle_prices.high) / 2
        end as others_median
    from ranked
    cross join dim_settings as settings
    inner join middle_prices
        on middle_prices.domain_id = ranked.domain_id
        and middle_prices.manufacturer_id = ranked.manufacturer_id
        and middle_prices.model_id = ranked.model_id
        and middle_prices.year = ranked.year
        and middle_prices.currency = ranked.currency
    where ranked.prices - 1 >= settings.minimum_group
),
final as (
    select
        lot_id,
        attempt,
        domain_id,
        manufacturer_id,
        model_id,
        year,
        currency,
        price,
        other_prices,
        round(others_median * 100) / 100 as others_median,
        price / others_median as price_ratio
    from compared
)
select * from final
