with facts as (
    select run_id, seen_at from run.facts
),
changed as (
    select lot_id from run.actions_lots where _action = 'updated'
),
old as (
    select lots.* from base.lots as lots where lots.lot_id in (select lot_id from changed)
),
new as (
    select lots.* from next.lots as lots where lots.lot_id in (select lot_id from changed)
),
pairs as (
    select
        new.lot_id,
        new.vehicle_id,
        new.domain_id,
        cast(old.vehicle_id as string) as old_vehicle_id,
        cast(new.vehicle_id as string) as new_vehicle_id,
        cast(old.status_id as string) as old_status_id,
        cast(new.status_id as string) as new_status_id,
        cast(old.bid as string) as old_bid,
        cast(new.bid as string) as new_bid,
        cast(old.buy_now as string) as old_buy_now,
        cast(new.buy_now as string) as new_buy_now,
        cast(old.final_bid as string) as old_final_bid,
        cast(new.final_bid as string) as new_final_bid,
        cast(old.seller_reserve_price as string) as old_seller_reserve_price,
        cast(new.seller_reserve_price as string) as new_seller_reserve_price,
        cast(old.sale_date as string) as old_sale_date,
        cast(new.sale_date as string) as new_sale_date,
        cast(old.odometer_km as string) as old_odometer_km,
        cast(new.odometer_km as string) as new_odometer_km,
        cast(old.odometer_mi as string) as old_odometer_mi,
        cast(new.odometer_mi as string) as new_odometer_mi,
        cast(old.location_country_iso as string) as old_location_country_iso,
        cast(new.location_country_iso as string) as new_location_country_iso,
        cast(old.location_state_code as string) as old_location_state_code,
        cast(new.location_state_code as string) as new_location_state_code,
        cast(old.location_city_name as string) as old_location_city_name,
        cast(new.location_city_name as string) as new_location_city_name,
        cast(old.location_location_name as string) as old_location_location_name,
        cast(new.location_location_name as string) as new_location_location_name,
        cast(old.archived as string) as old_archived,
        cast(new.archived as string) as new_archived,
        cast(old.archived_at as string) as old_archived_at,
        cast(new.archived_at as string) as new_archived_at,
        cast(old.archived_by as string) as old_archived_by,
        cast(new.archived_by as string) as new_archived_by
    from new
    join old on old.lot_id = new.lot_id
),
fields as (
    select lot_id, vehicle_id, domain_id, 'vehicle_id' as field, old_vehicle_id as old_value, new_vehicle_id as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'status_id' as field, old_status_id as old_value, new_status_id as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'bid' as field, old_bid as old_value, new_bid as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'buy_now' as field, old_buy_now as old_value, new_buy_now as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'final_bid' as field, old_final_bid as old_value, new_final_bid as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'seller_reserve_price' as field, old_seller_reserve_price as old_value, new_seller_reserve_price as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'sale_date' as field, old_sale_date as old_value, new_sale_date as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'odometer_km' as field, old_odometer_km as old_value, new_odometer_km as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'odometer_mi' as field, old_odometer_mi as old_value, new_odometer_mi as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'location_country_iso' as field, old_location_country_iso as old_value, new_location_country_iso as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'location_state_code' as field, old_location_state_code as old_value, new_location_state_code as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'location_city_name' as field, old_location_city_name as old_value, new_location_city_name as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'location_location_name' as field, old_location_location_name as old_value, new_location_location_name as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'archived' as field, old_archived as old_value, new_archived as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'archived_at' as field, old_archived_at as old_value, new_archived_at as new_value from pairs
    union all
    select lot_id, vehicle_id, domain_id, 'archived_by' as field, old_archived_by as old_value, new_archived_by as new_value from pairs
)
select
    fields.lot_id,
    fields.vehicle_id,
    fields.domain_id,
    fields.field,
    fields.old_value,
    fields.new_value,
    facts.seen_at,
    facts.run_id
from fields
cross join facts
where fields.old_value is distinct from fields.new_value
