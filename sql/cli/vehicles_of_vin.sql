-- The vehicles of a VIN: those in the feed first, then the one that changed last.
select vehicle_id
from vehicles
where vehicle_id in (select vehicle_id from vin_facts where vin = $vin)
order by archived, changed_at desc, vehicle_id desc
