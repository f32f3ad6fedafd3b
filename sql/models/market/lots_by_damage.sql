with sold_lots as (
    -- a lot is sold once: an attempt with a later attempt is no sale
    select lot_id, price from sales where outcome = 'sold'
),
lot_facts as (
    select
        lot_groups.lot_id,
        damage_main,
        damage_second,
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
    left join odometer_readings as readings on readings.lot_id = lot_groups.lot_id
    left join sold_lots on sold_lots.lot_id = lot_groups.lot_id
),
of_groups as (
    select lot_facts.*, above_place as place
    from lot_facts
    inner join lot_generations using (lot_id)
    inner join groups_above on groups_above.place = generation_place
    where above_depth <= 3
)
select
    place,
    damage_main,
    damage_second,
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
from of_groups
-- the damages of each group, and a row of all its lots without a damage
group by grouping sets ((place, currency, damage_main, damage_second), (place, currency))
