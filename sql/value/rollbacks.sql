-- Odometer readings of a vehicle that are below what it had on the clock before.
select cast(read_on as varchar) as read_on, odometer_km as km, odometer_highest_km as highest_km
from odometer_rollbacks
where vehicle_id = $vehicle_id
order by odometer_rollbacks.read_on, km
