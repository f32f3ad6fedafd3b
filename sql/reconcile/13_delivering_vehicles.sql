select vehicle_id, bool_or(columns(vehicle_members.* exclude (vehicle_id, _seq)))
from counted.vehicle_members
cross join run.facts
where facts.is_from_feed
    -- one list may have shown the vehicle unchanged, with children that the other list did not show
    and (
        (select count(distinct list) from run.pages) <= 1
        or vehicle_id not in (select vehicle_id from run.unchanged_vehicles)
    )
group by all
