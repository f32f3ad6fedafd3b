select
    vehicles.*,
    -- vehicles in the feed are active; after a lookup, the lots or the last snapshot decide
    not facts.is_from_feed and coalesce(lots.all_archived, known.archived, false) as _is_archived,
    _is_archived as archived,
    case when _is_archived then coalesce(lots.archived_at, known.archived_at) end as archived_at,
    case when _is_archived then coalesce(lots.archived_by, known.archived_by) end as archived_by,
    case when _is_archived then coalesce(lots.last_seen_at, known.last_seen_at) end as last_seen_at
from counted.vehicles
cross join run.facts
left join run.lots_of_vehicles as lots using (vehicle_id)
left join base.vehicles as known using (vehicle_id)
