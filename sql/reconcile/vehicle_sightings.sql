with known as (
    from base.sightings where lot_id is null
),
received as (
    select vehicle_id from counted.vehicles
    union
    select vehicle_id from run.unchanged_vehicles
),
matched as (
    select
        vehicle_id,
        known.* exclude (vehicle_id, lot_id),
        vehicle_id in (from run.rejected_vehicles) as is_rejected,
        received.vehicle_id is not null as is_seen,
        -- a resumed pass may bring older records than another run has seen since
        is_seen and not (facts.is_resumed and coalesce(known.seen_at > facts.seen_at, false)) as is_latest
    from known
    full join received using (vehicle_id)
    cross join run.facts
)
select
    vehicle_id,
    null::bigint as lot_id,
    if(is_latest, facts.seen_at, matched.seen_at) as seen_at,
    if(is_latest, facts.kind, matched.seen_by) as seen_by,
    case when is_seen then null when is_rejected then facts.seen_at else matched.rejected_at end as rejected_at,
    if(is_seen, facts.run_id, matched.run_id) as run_id
from matched
cross join run.facts
