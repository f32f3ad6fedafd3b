-- The vehicles of a VIN: those in the feed first, then the one that changed last.
select vehicle_id
from vehicles
where upper(trim(vin)) = $vin
order by archived, changed_at desc, vehicle_id desc
