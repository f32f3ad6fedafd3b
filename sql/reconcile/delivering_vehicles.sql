select vehicle_id, bool_or(columns(vehicle_members.* exclude (vehicle_id, _seq)))
from counted.vehicle_members
cross join run.facts
anti join run.unchanged_vehicles using (vehicle_id)
where facts.is_from_feed
group by vehicle_id
-- another copy may have had the row that this one lacks
having count(*) = 1
