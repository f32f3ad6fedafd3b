with sold_lots as (
    select lot_id, manufacturer_id, model_id, year, price from sales where outcome = 'sold'
),
lot_facts as (
    select
        nullif(country_code, 'unknown') as country_iso,
        nullif(lot_groups.state_code, 'unknown') as state_code,
        nullif(trim(location_state_name), '') as state_name,
        location_city_id as city_id,
        nullif(trim(location_city_name), '') as city_name,
        location_latitude between -90 and 90
            and location_longitude between -180 and 180
            and not (location_latitude = 0 and location_longitude = 0) as is_located,
        -- whole millionths of a degree, so that the mean does not depend on the order of the rows
        case when is_located then round(location_latitude * 1000000) end as latitude,
        case when is_located then round(location_longitude * 1000000) end as longitude,
        currency,
        sold_lots.lot_id is not null as is_sold,
        manufacturer_id,
        model_id,
        year,
        price
    from lots
    inner join lot_groups on lot_groups.lot_id = lots.lot_id
    left join sold_lots on sold_lots.lot_id = lots.lot_id
    where is_auction(lots.domain_id)
),
national as (
    select country_iso, currency, manufacturer_id, model_id, year, count(*) as prices, median(price) as price_median
    from lot_facts
    where price is not null
    group by all
),
compared as (
    select
        lot_facts.*,
        case when enough(national.prices) then price / national.price_median end as price_ratio
    from lot_facts
    left join national using (country_iso, currency, manufacturer_id, model_id, year)
),
places as (
    select
        level,
        country_iso,
        state_code,
        case when level = 'city' then city_id end as city_id,
        currency,
        max(state_name) as state_name,
        max(city_name) as city_name,
        avg(latitude) as latitude,
        avg(longitude) as longitude,
        count(*) as lots,
        count(*) filter (where is_sold) as lots_sold,
        count(price) as priced_lots,
        median(price) as price_median,
        count(price_ratio) as compared_lots,
        median(price_ratio) as price_ratio_median,
        percentile_cont(0.25) within group (order by price_ratio) as price_ratio_p25,
        percentile_cont(0.75) within group (order by price_ratio) as price_ratio_p75
    from compared
    cross join (values ('state'), ('city')) as levels(level)
    group by all
)
select
    level,
    country_iso,
    state_code,
    case when state_code is not null then max(state_name) over (partition by country_iso, state_code) end as state_name,
    city_id,
    case when city_id is not null then max(city_name) over (partition by city_id) end as city_name,
    round(latitude / 1000000 * 10000) / 10000 as latitude,
    round(longitude / 1000000 * 10000) / 10000 as longitude,
    lots,
    lots_sold,
    priced_lots,
    currency,
    -- an amount without a known currency counts as a lot, but enters no statistic
    case when currency is not null and enough(priced_lots) then money(price_median) end as price_median,
    compared_lots,
    case when enough(compared_lots) then price_ratio_median end as price_ratio_median,
    case when enough(compared_lots) then price_ratio_p25 end as price_ratio_p25,
    case when enough(compared_lots) then price_ratio_p75 end as price_ratio_p75
from places
