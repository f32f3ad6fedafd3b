with levels as (
    select 'state' as level
    union all
    select 'city' as level
),
sold_lots as (
    select lot_id, manufacturer_id, model_id, year, price
    from sales
    where outcome = 'sold'
),
source_lots as (
    -- source 12 lists cars at asking prices and holds no auctions
    select
        lots.lot_id,
        nullif(lot_groups.country_code, 'unknown') as country_iso,
        nullif(lot_groups.state_code, 'unknown') as state_code,
        lot_groups.currency,
        nullif(trim(location_state_name), '') as state_name,
        location_city_id as city_id,
        nullif(trim(location_city_name), '') as city_name,
        case
            when location_latitude between -90 and 90
                and location_longitude between -180 and 180
                and not (location_latitude = 0 and location_longitude = 0)
            then 1
            else 0
        end as is_located,
        location_latitude as latitude,
        location_longitude as longitude
    from lots
    inner join lot_groups on lot_groups.lot_id = lots.lot_id
    where lots.domain_id <> 12
),
lot_facts as (
    select
        source_lots.country_iso,
        source_lots.state_code,
        source_lots.state_name,
        source_lots.city_id,
        source_lots.city_name,
        case when source_lots.is_located = 1 then source_lots.latitude end as latitude,
        case when source_lots.is_located = 1 then source_lots.longitude end as longitude,
        source_lots.is_located,
        source_lots.currency,
        case when sold_lots.lot_id is null then 0 else 1 end as is_sold,
        sold_lots.manufacturer_id,
        sold_lots.model_id,
        sold_lots.year,
        sold_lots.price
    from source_lots
    left join sold_lots on sold_lots.lot_id = source_lots.lot_id
),
places as (
    select
        country_iso,
        state_code,
        city_id,
        currency,
        max(state_name) as state_name,
        max(city_name) as city_name,
        count(*) as lots,
        sum(is_sold) as sold,
        sum(is_located) as located,
        -- whole millionths of a degree, so that the sum does not depend on the order of the rows
        sum(cast(round(latitude * 1000000) as bigint)) as latitudes,
        sum(cast(round(longitude * 1000000) as bigint)) as longitudes
    from lot_facts
    group by country_iso, state_code, city_id, currency
),
state_names as (
    select country_iso, state_code, max(state_name) as state_name
    from places
    where state_code is not null
    group by country_iso, state_code
),
city_names as (
    select city_id, max(city_name) as city_name
    from places
    where city_id is not null
    group by city_id
),
counts as (
    select
        levels.level,
        places.country_iso,
        places.state_code,
        case when levels.level = 'city' then places.city_id end as city_id,
        places.currency,
        cast(sum(places.lots) as bigint) as lots,
        cast(sum(places.sold) as bigint) as lots_sold,
        sum(places.located) as located,
        sum(places.latitudes) as latitudes,
        sum(places.longitudes) as longitudes
    from places
    cross join levels
    group by
        levels.level,
        places.country_iso,
        places.state_code,
        case when levels.level = 'city' then places.city_id end,
        places.currency
),
priced as (
    select country_iso, state_code, city_id, currency, manufacturer_id, model_id, year, price
    from lot_facts
    where price is not null
),
national as (
    select
        country_iso,
        currency,
        manufacturer_id,
        model_id,
        year,
        count(*) as priced_lots,
        percentile_cont(0.5) within group (order by price) as price_median
    from priced
    where country_iso is not null and manufacturer_id is not null and model_id is not null and year is not null
    group by country_iso, currency, manufacturer_id, model_id, year
),
compared as (
    select
        priced.country_iso,
        priced.state_code,
        priced.city_id,
        priced.currency,
        -- an amount without a known currency counts as a lot, but enters no statistic
        case when priced.currency is not null then priced.price end as known_price,
        case when national.priced_lots >= settings.minimum_group then priced.price / national.price_median end
            as price_ratio
    from priced
    cross join dim_settings as settings
    left join national
        on national.country_iso = priced.country_iso
        and national.currency = priced.currency
        and national.manufacturer_id = priced.manufacturer_id
        and national.model_id = priced.model_id
        and national.year = priced.year
),
statistics as (
    select
        levels.level,
        compared.country_iso,
        compared.state_code,
        case when levels.level = 'city' then compared.city_id end as city_id,
        compared.currency,
        count(*) as priced_lots,
        percentile_cont(0.5) within group (order by compared.known_price) as price_median,
        count(compared.price_ratio) as compared_lots,
        percentile_cont(0.5) within group (order by compared.price_ratio) as price_ratio_median,
        percentile_cont(0.25) within group (order by compared.price_ratio) as price_ratio_p25,
        percentile_cont(0.75) within group (order by compared.price_ratio) as price_ratio_p75
    from compared
    cross join levels
    group by
        levels.level,
        compared.country_iso,
        compared.state_code,
        case when levels.level = 'city' then compared.city_id end,
        compared.currency
),
final as (
    select
        counts.level,
        counts.country_iso,
        counts.state_code,
        state_names.state_name,
        counts.city_id,
        city_names.city_name,
        round(counts.latitudes / nullif(counts.located, 0) / 1000000 * 10000) / 10000 as latitude,
        round(counts.longitudes / nullif(counts.located, 0) / 1000000 * 10000) / 10000 as longitude,
        counts.lots,
        counts.lots_sold,
        coalesce(statistics.priced_lots, 0) as priced_lots,
        counts.currency,
        case when statistics.priced_lots >= settings.minimum_group then round(statistics.price_median * 100) / 100 end
            as price_median,
        coalesce(statistics.compared_lots, 0) as compared_lots,
        case when statistics.compared_lots >= settings.minimum_group then statistics.price_ratio_median end
            as price_ratio_median,
        case when statistics.compared_lots >= settings.minimum_group then statistics.price_ratio_p25 end
            as price_ratio_p25,
        case when statistics.compared_lots >= settings.minimum_group then statistics.price_ratio_p75 end
            as price_ratio_p75
    from counts
    cross join dim_settings as settings
    left join statistics
        on statistics.level = counts.level
        and statistics.country_iso is not distinct from counts.country_iso
        and statistics.state_code is not distinct from counts.state_code
        and statistics.city_id is not distinct from counts.city_id
        and statistics.currency is not distinct from counts.currency
    left join state_names
        on state_names.country_iso is not distinct from counts.country_iso
        and state_names.state_code = counts.state_code
    left join city_names on city_names.city_id = counts.city_id
)
select * from final
