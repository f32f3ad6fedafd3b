with facts as (
    select is_from_feed from run.facts
),
lots as (
    select vehicle_id, all_archived, archived_at, archived_by, last_seen_at from run.lots_of_vehicles
),
known as (
    select vehicle_id, archived, archived_at, archived_by, last_seen_at from base.vehicles
),
decided as (
    select
        vehicles.*,
        -- vehicles in the feed are active; after a lookup, the lots or the last snapshot decide
        not facts.is_from_feed and coalesce(lots.all_archived, known.archived, false) as _is_archived,
        coalesce(lots.archived_at, known.archived_at) as _known_archived_at,
        coalesce(lots.archived_by, known.archived_by) as _known_archived_by,
        coalesce(lots.last_seen_at, known.last_seen_at) as _known_last_seen_at
    from current.vehicles as vehicles
    cross join facts
    left join lots on lots.vehicle_id = vehicles.vehicle_id
    left join known on known.vehicle_id = vehicles.vehicle_id
)
select
    decided.*,
    _is_archived as archived,
    case when _is_archived then _known_archived_at end as archived_at,
    case when _is_archived then _known_archived_by end as archived_by,
    case when _is_archived then _known_last_seen_at end as last_seen_at
from decided
