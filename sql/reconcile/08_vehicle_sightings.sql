with facts as (
    select run_id, seen_at, kind, is_resumed from run.facts
),
known as (
    select vehicle_id, seen_at, seen_by, rejected_at, run_id from base.sightings where lot_id is null
),
received as (
    select vehicle_id from current.vehicles
    union
    select vehicle_id from run.unchanged_vehicles
),
rejected as (
    select vehicle_id from run.rejected_vehicles
),
matched as (
    select
        coalesce(received.vehicle_id, known.vehicle_id) as vehicle_id,
        known.seen_at,
        known.seen_by,
        known.rejected_at,
        known.run_id,
        received.vehicle_id is not null as is_seen,
        known.vehicle_id in (select vehicle_id from rejected) as is_rejected
    from known
    full join received on received.vehicle_id = known.vehicle_id
),
final as (
    select
        matched.*,
        -- a resumed pass may bring older records than another run has seen since
        is_seen and (not facts.is_resumed or coalesce(matched.seen_at <= facts.seen_at, true)) as is_latest
    from matched
    cross join facts
)
select
    final.vehicle_id,
    cast(null as bigint) as lot_id,
    case when final.is_latest then facts.seen_at else final.seen_at end as seen_at,
    case when final.is_latest then facts.kind else final.seen_by end as seen_by,
    case when final.is_seen then null when final.is_rejected then facts.seen_at else final.rejected_at end as rejected_at,
    case when final.is_seen then facts.run_id else final.run_id end as run_id
from final
cross join facts
