-- The lots of a vehicle: those in the feed first, in its order.
select
    lot_id,
    domain_id,
    domain_name,
    lot,
    page_of_lot(domain_id, trim(lot), external_id) as link,
    status_name,
    strftime(sale_date, '%Y-%m-%dT%H:%M:%SZ') as sale_date,
    bid,
    final_bid,
    buy_now,
    damage_main_name,
    odometer_km,
    archived,
    strftime(archived_at, '%Y-%m-%dT%H:%M:%SZ') as archived_at
from lots
where vehicle_id = $vehicle_id
order by archived, position nulls last, lot_id
