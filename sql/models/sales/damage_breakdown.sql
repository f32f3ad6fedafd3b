with sold_lots as (
    -- a lot is sold once: an attempt with a later attempt is no sale
    select lot_id, price
    from sales
    where outcome = 'sold'
),
source_vehicles as (
    select
        vehicle_id,
        manufacturer_id,
        model_id
    from vehicles
),
source_lots as (
    select
        lot_groups.lot_id,
        lot_groups.vehicle_id,
        lot_groups.domain_id,
        lot_groups.currency,
        lot_groups.damage_main,
        lot_groups.damage_second,
        lot_groups.is_sound,
        readings.odometer_km,
        -- the bounds of a price also apply to estimates
        case
            when lots.estimate_repair_price between 0 and 5000000 and lots.pre_accident_price between 1 and 5000000
            then lots.estimate_repair_price / lots.pre_accident_price
        end as repair_share
    from lots
    inner join lot_groups on lot_groups.lot_id = lots.lot_id
    left join odometer_readings as readings on readings.lot_id = lots.lot_id
),
lot_facts as (
    select
        source_lots.damage_main,
        source_lots.damage_second,
        source_lots.domain_id,
        source_vehicles.manufacturer_id,
        source_vehicles.model_id,
        source_lots.currency,
        source_lots.is_sound,
        source_lots.odometer_km,
        case when source_lots.currency is not null then source_lots.repair_share end as known_repair_share,
        source_lots.repair_share,
        case when sold_lots.lot_id is null then 0 else 1 end as is_sold,
        -- an amount without a known currency counts as a lot, but enters no statistic
        case when source_lots.currency is not null then sold_lots.price end as known_price,
        sold_lots.price
    from source_lots
    left join source_vehicles on source_vehicles.vehicle_id = source_lots.vehicle_id
    left join sold_lots on sold_lots.lot_id = source_lots.lot_id
),
damages as (
    select
        damage_main,
        damage_second,
        domain_id,
        manufacturer_id,
        model_id,
        currency,
        count(*) as lots,
        cast(sum(is_sold) as bigint) as sold,
        count(price) as priced_lots,
        count(odometer_km) as odometer_lots,
        count(repair_share) as repair_lots,
        percentile_cont(0.5) within group (order by known_price) as price_median,
        percentile_cont(0.5) within group (order by odometer_km) as odometer_km_median,
        percentile_cont(0.5) within group (order by known_repair_share) as repair_share
    from lot_facts
    group by damage_main, damage_second, domain_id, manufacturer_id, model_id, currency
),
sound as (
    select
        domain_id,
        manufacturer_id,
        model_id,
        currency,
        count(price) as priced_lots,
        percentile_cont(0.5) within group (order by price) as price_median
    from lot_facts
    where is_sound and price is not null
    group by domain_id, manufacturer_id, model_id, currency
),
large_enough as (
    select
        damages.damage_main,
        damages.damage_second,
        damages.domain_id,
        damages.manufacturer_id,
        damages.model_id,
        damages.currency,
        damages.lots,
        cast(damages.lots as double) / sum(damages.lots) over (
            partition by damages.domain_id, damages.manufacturer_id, damages.model_id, damages.currency
        ) as share,
        damages.sold,
        damages.priced_lots,
        damages.odometer_lots,
        damages.repair_lots,
        case when damages.priced_lots >= settings.minimum_group then damages.price_median end as price_median,
        case when damages.odometer_lots >= settings.minimum_group then damages.odometer_km_median end as odometer_km_median,
        case when damages.repair_lots >= settings.minimum_group then damages.repair_share end as repair_share,
        case when sound.priced_lots >= settings.minimum_group then sound.price_median end as sound_price_median
    from damages
    cross join dim_settings as settings
    left join sound
        on sound.domain_id is not distinct from damages.domain_id
        and sound.manufacturer_id is not distinct from damages.manufacturer_id
        and sound.model_id is not distinct from damages.model_id
        and sound.currency = damages.currency
),
final as (
    select
        large_enough.damage_main,
        main_damages.damage_group as damage_main_group,
        large_enough.damage_second,
        second_damages.damage_group as damage_second_group,
        large_enough.domain_id,
        source_names.domain_name,
        large_enough.manufacturer_id,
        manufacturer_names.manufacturer_name,
        large_enough.model_id,
        model_names.model_name,
        large_enough.lots,
        large_enough.share,
        large_enough.sold,
        large_enough.priced_lots,
        large_enough.currency,
        round(large_enough.price_median * 100) / 100 as price_median,
        large_enough.price_median / large_enough.sound_price_median as price_ratio_to_sound,
        large_enough.odometer_lots,
        large_enough.odometer_km_median,
        large_enough.repair_lots,
        large_enough.repair_share
    from large_enough
    inner join dim_damages as main_damages on main_damages.damage_name = large_enough.damage_main
    inner join dim_damages as second_damages on second_damages.damage_name = large_enough.damage_second
    left join dim_sources as source_names on source_names.domain_id = large_enough.domain_id
    left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = large_enough.manufacturer_id
    left join dim_models as model_names on model_names.model_id = large_enough.model_id
)
select * from final
