-- description: The vehicle of every lot is known.
-- severity: warn
select
    lots.lot_id,
    lots.vehicle_id
from lots
left join vehicles on vehicles.vehicle_id = lots.vehicle_id
where vehicles.vehicle_id is null
