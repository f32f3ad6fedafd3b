select lot_id, bool_or(prices) as prices, bool_or(images) as images
from counted.lot_members
cross join run.facts
anti join run.unchanged_vehicles using (vehicle_id)
where facts.is_from_feed
group by lot_id
-- another copy may have had the row that this one lacks
having count(*) = 1
