with priced as (
    select
        *,
        row_number() over (
            partition by domain_id, manufacturer_id, model_id, year, currency order by price nulls last
        ) as place,
        count(*) over model_year as prices
    from sales
    where price is not null
    window model_year as (partition by domain_id, manufacturer_id, model_id, year, currency)
),
middle as (
    -- the three middle prices of a model year; the median of all prices but one comes from two of them
    select
        *,
        max(case when place = floor(prices / 2) then price end) over model_year as low_price,
        max(case when place = floor(prices / 2) + 1 then price end) over model_year as middle_price,
        max(case when place = floor(prices / 2) + 2 then price end) over model_year as high_price
    from priced
    window model_year as (partition by domain_id, manufacturer_id, model_id, year, currency)
),
compared as (
    -- each price beside the median of the others: a median with the price in it would pull the ratio towards 1
    select
        lot_id,
        manufacturer_id,
        model_id,
        date_part('year', sale_month) - year as age_years,
        currency,
        price,
        case when currency is not null and manufacturer_id is not null and model_id is not null and enough(prices - 1)
            then price / case
                when prices % 2 = 0 and place <= prices / 2 then middle_price
                when prices % 2 = 0 then low_price
                when place < (prices + 1) / 2 then (middle_price + high_price) / 2
                when place > (prices + 1) / 2 then (low_price + middle_price) / 2
                else (low_price + high_price) / 2
            end
        end as price_ratio
    from middle
    where year is not null
),
bands as (
    select
        level,
        case when level = 'model' then manufacturer_id end as manufacturer_id,
        case when level = 'model' then model_id end as model_id,
        least(greatest(age_years, 0), 30) as age_years,
        cast(least(floor(odometer_km / 25000), 16) as bigint) * 25000 as odometer_band_km,
        currency,
        count(*) as priced_lots,
        median(price) as price_median,
        count(price_ratio) as compared_lots,
        median(price_ratio) as price_ratio_median
    from compared
    inner join odometer_readings using (lot_id)
    cross join (values ('all'), ('model')) as levels(level)
    group by all
)
select
    level,
    manufacturer_id,
    manufacturer_name,
    model_id,
    model_name,
    age_years,
    odometer_band_km,
    priced_lots,
    currency,
    -- an amount without a known currency counts as a lot, but enters no statistic
    case when currency is not null and enough(priced_lots) then money(price_median) end as price_median,
    compared_lots,
    case when enough(compared_lots) then price_ratio_median end as price_ratio_median
from bands
left join dim_manufacturers using (manufacturer_id)
left join dim_models using (model_id)
