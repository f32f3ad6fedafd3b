with sold_lots as (
    -- a lot is sold once: an attempt with a later attempt is no sale
    select lot_id, price from sales where outcome = 'sold'
),
lot_facts as (
    select
        damage_main,
        damage_second,
        lot_groups.domain_id,
        manufacturer_id,
        model_id,
        currency,
        sold_lots.lot_id is not null as is_sold,
        price,
        case when is_sound then price end as sound_price,
        readings.odometer_km,
        -- the bounds of a price also apply to estimates
        case
            when estimate_repair_price between 0 and 5000000
            then estimate_repair_price / plausible_price(pre_accident_price)
        end as repair_share
    from lot_groups
    inner join lots on lots.lot_id = lot_groups.lot_id
    left join vehicle_facts on vehicle_facts.vehicle_id = lot_groups.vehicle_id
    left join odometer_readings as readings on readings.lot_id = lot_groups.lot_id
    left join sold_lots on sold_lots.lot_id = lot_groups.lot_id
),
damages as (
    -- the damages of each model, and a row of all its lots without a damage
    select
        damage_main,
        damage_second,
        domain_id,
        manufacturer_id,
        model_id,
        currency,
        count(*) as lots,
        count(*) filter (where is_sold) as sold,
        count(price) as priced_lots,
        median(price) as price_median,
        count(sound_price) as sound_lots,
        median(sound_price) as sound_median,
        count(odometer_km) as odometer_lots,
        median(odometer_km) as odometer_km_median,
        count(repair_share) as repair_lots,
        median(repair_share) as repair_share
    from lot_facts
    group by grouping sets (
        (domain_id, manufacturer_id, model_id, currency, damage_main, damage_second),
        (domain_id, manufacturer_id, model_id, currency)
    )
),
of_models as (
    select
        *,
        max(case when damage_main is null then lots end) over of_model as model_lots,
        max(case when damage_main is null and enough(sound_lots) then sound_median end) over of_model as model_sound_median,
        -- an amount without a known currency counts as a lot, but enters no statistic
        case when currency is not null and enough(priced_lots) then price_median end as known_median
    from damages
    window of_model as (partition by domain_id, manufacturer_id, model_id, currency)
)
select
    damage_main,
    main_damages.damage_group as damage_main_group,
    damage_second,
    second_damages.damage_group as damage_second_group,
    domain_id,
    domain_name,
    manufacturer_id,
    manufacturer_name,
    model_id,
    model_name,
    lots,
    lots / model_lots as share,
    sold,
    priced_lots,
    currency,
    money(known_median) as price_median,
    known_median / model_sound_median as price_ratio_to_sound,
    odometer_lots,
    case when enough(odometer_lots) then odometer_km_median end as odometer_km_median,
    repair_lots,
    case when currency is not null and enough(repair_lots) then repair_share end as repair_share
from of_models
inner join dim_damages as main_damages on main_damages.damage_name = damage_main
inner join dim_damages as second_damages on second_damages.damage_name = damage_second
left join dim_sources using (domain_id)
left join dim_manufacturers using (manufacturer_id)
left join dim_models using (model_id)
