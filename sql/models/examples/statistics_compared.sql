with priced as (
    -- the service counts by its own ids and years, which the models may join or doubt
    select
        sale_date,
        price,
        currency,
        sales.domain_id,
        case when vehicles.vehicle_id is null then sales.manufacturer_id else vehicles.manufacturer_id end as manufacturer_id,
        case when vehicles.vehicle_id is null then sales.model_id else vehicles.model_id end as model_id,
        sales.generation_id,
        case when vehicles.vehicle_id is null then sales.year else vehicles.year end as year,
        vehicle_type_id,
        engine_id
    from sales
    left join vehicles on vehicles.vehicle_id = sales.vehicle_id
    where price is not null and currency is not null
),
records as (
    select *, plausible_date(calculated_at, last_day) as counted_at
    from statistics
    cross join dim_settings
),
our_prices as (
    select
        statistic_id,
        min(currency) as currency,
        count(*) as lots,
        avg(price) as price_avg,
        min(price) as price_min,
        max(price) as price_max
    from records
    inner join priced
        on priced.domain_id is not distinct from records.domain_id
        and priced.manufacturer_id is not distinct from records.manufacturer_id
        and priced.model_id is not distinct from records.car_model_id
        and priced.generation_id is not distinct from records.generation_id
        and priced.year is not distinct from records.year
        and priced.vehicle_type_id is not distinct from records.vehicle_type_id
        -- a record without an engine covers all engines
        and (records.engine_id is null or priced.engine_id = records.engine_id)
        and (counted_at is null or priced.sale_date <= counted_at)
    group by statistic_id
    having min(currency) = max(currency)
),
known_prices as (
    select
        statistic_id,
        currency,
        lots,
        case when enough(lots) then price_avg end as price_avg,
        case when enough(lots) then price_min end as price_min,
        case when enough(lots) then price_max end as price_max
    from our_prices
)
select
    statistic_id,
    domain_id,
    trim(domain_name) as domain_name,
    manufacturer_id,
    trim(manufacturer_name) as manufacturer_name,
    car_model_id as model_id,
    trim(car_model_name) as model_name,
    generation_id,
    trim(generation_name) as generation_name,
    year,
    vehicle_type_id,
    engine_id,
    counted_at as calculated_at,
    currency,
    lot_count as service_lots,
    avg_final_bid as service_avg,
    min_final_bid as service_min,
    max_final_bid as service_max,
    coalesce(lots, 0) as lots,
    money(known_prices.price_avg) as price_avg,
    money(known_prices.price_min) as price_min,
    money(known_prices.price_max) as price_max,
    -- a mean of the service can be any number, and one so large has no cents to round
    case
        when abs(avg_final_bid) < 1e13 then money(known_prices.price_avg - avg_final_bid)
        else known_prices.price_avg - avg_final_bid
    end as avg_difference,
    case when avg_final_bid > 0 then known_prices.price_avg / avg_final_bid - 1 end as avg_difference_share,
    known_prices.price_avg between min_final_bid and max_final_bid as is_within
from records
left join known_prices using (statistic_id)
