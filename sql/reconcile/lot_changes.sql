with pairs as (
    select
        lot_id,
        new.vehicle_id as vehicle_now,
        new.domain_id,
        -- the tracked fields as text, before and after
        [old.vehicle_id, new.vehicle_id]::varchar[] as vehicle_id,
        [old.status_id, new.status_id]::varchar[] as status_id,
        [old.bid, new.bid]::varchar[] as bid,
        [old.buy_now, new.buy_now]::varchar[] as buy_now,
        [old.final_bid, new.final_bid]::varchar[] as final_bid,
        [old.seller_reserve_price, new.seller_reserve_price]::varchar[] as seller_reserve_price,
        [old.sale_date, new.sale_date]::varchar[] as sale_date,
        [old.odometer_km, new.odometer_km]::varchar[] as odometer_km,
        [old.odometer_mi, new.odometer_mi]::varchar[] as odometer_mi,
        [old.location_country_iso, new.location_country_iso]::varchar[] as location_country_iso,
        [old.location_state_code, new.location_state_code]::varchar[] as location_state_code,
        [old.location_city_name, new.location_city_name]::varchar[] as location_city_name,
        [old.location_location_name, new.location_location_name]::varchar[] as location_location_name,
        [old.archived, new.archived]::varchar[] as archived,
        [old.archived_at, new.archived_at]::varchar[] as archived_at,
        [old.archived_by, new.archived_by]::varchar[] as archived_by
    from run.actions_lots
    join base.lots as old using (lot_id)
    join next.lots as new using (lot_id)
    where _action = 'updated'
),
fields as (
    unpivot pairs on * exclude (lot_id, vehicle_now, domain_id) into name field value pair
)
select
    lot_id,
    vehicle_now as vehicle_id,
    domain_id,
    field,
    pair[1] as old_value,
    pair[2] as new_value,
    facts.seen_at,
    facts.run_id
from fields
cross join run.facts
where pair[1] is distinct from pair[2]
