with records as (
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
        calculated_at,
        lot_count,
        avg_final_bid,
        min_final_bid,
        max_final_bid
    from statistics
),
source_vehicles as (
    select vehicle_id, vehicle_type_id, engine_id from vehicles
),
priced as (
    select
        sales.domain_id,
        sales.manufacturer_id,
        sales.model_id,
        sales.generation_id,
        sales.year,
        source_vehicles.vehicle_type_id,
        source_vehicles.engine_id,
        sales.sale_date,
        sales.currency,
        sales.price
    from sales
    left join source_vehicles on source_vehicles.vehicle_id = sales.vehicle_id
    where sales.price is not null and sales.currency is not null
),
our_prices as (
    select
        records.statistic_id,
        case when min(priced.currency) = max(priced.currency) then min(priced.currency) end as currency,
        count(*) as lots,
        avg(priced.price) as price_avg,
        min(priced.price) as price_min,
        max(priced.price) as price_max
    from records
    inner join priced
        on priced.domain_id is not distinct from records.domain_id
        and priced.manufacturer_id is not distinct from records.manufacturer_id
        and priced.model_id is not distinct from records.model_id
        and priced.generation_id is not distinct from records.generation_id
        and priced.year is not distinct from records.year
        and priced.vehicle_type_id is not distinct from records.vehicle_type_id
        -- a record without an engine covers all engines
        and (records.engine_id is null or priced.engine_id = records.engine_id)
        and (records.calculated_at is null or priced.sale_date <= records.calculated_at)
    group by records.statistic_id
),
large_enough as (
    select
        our_prices.statistic_id,
        our_prices.currency,
        our_prices.lots,
        case when our_prices.lots >= settings.minimum_group then our_prices.price_avg end as price_avg,
        case when our_prices.lots >= settings.minimum_group then our_prices.price_min end as price_min,
        case when our_prices.lots >= settings.minimum_group then our_prices.price_max end as price_max
    from our_prices
    cross join dim_settings as settings
    where our_prices.currency is not null
),
final as (
    select
        records.statistic_id,
        records.domain_id,
        records.domain_name,
        records.manufacturer_id,
        records.manufacturer_name,
        records.model_id,
        records.model_name,
        records.generation_id,
        records.generation_name,
        records.year,
        records.vehicle_type_id,
        records.engine_id,
        records.calculated_at,
        large_enough.currency,
        records.lot_count as service_lots,
        records.avg_final_bid as service_avg,
        records.min_final_bid as service_min,
        records.max_final_bid as service_max,
        coalesce(large_enough.lots, 0) as lots,
        round(large_enough.price_avg * 100) / 100 as price_avg,
        round(large_enough.price_min * 100) / 100 as price_min,
        round(large_enough.price_max * 100) / 100 as price_max,
        -- a mean of the service can be any number, and one so large has no cents to round
        case
            when abs(records.avg_final_bid) < 1e13 then round((large_enough.price_avg - records.avg_final_bid) * 100) / 100
            else large_enough.price_avg - records.avg_final_bid
        end as avg_difference,
        case
            when records.avg_final_bid > 0 then large_enough.price_avg / records.avg_final_bid - 1
        end as avg_difference_share,
        large_enough.price_avg >= records.min_final_bid and large_enough.price_avg <= records.max_final_bid as is_within
    from records
    left join large_enough on large_enough.statistic_id = records.statistic_id
)
select * from final
