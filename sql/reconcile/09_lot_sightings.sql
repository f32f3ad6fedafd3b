with facts as (
    select run_id, seen_at, kind, is_resumed from run.facts
),
sightings as (
    select vehicle_id, lot_id, seen_at, seen_by, rejected_at, run_id from base.sightings
),
known as (
    select vehicle_id, lot_id, seen_at, seen_by, rejected_at, run_id from sightings where lot_id is not null
),
delivered as (
    select lot_id, max(vehicle_id) as vehicle_id from current.lots group by lot_id
),
unchanged_records as (
    -- an unchanged record brings the lots that it had when it was last loaded
    select unchanged.vehicle_id, sightings.seen_at
    from run.unchanged_vehicles as unchanged
    join sightings on sightings.vehicle_id = unchanged.vehicle_id and sightings.lot_id is null
),
matched as (
    select
        coalesce(delivered.vehicle_id, known.vehicle_id) as vehicle_id,
        coalesce(delivered.lot_id, known.lot_id) as lot_id,
        known.seen_at,
        known.seen_by,
        known.rejected_at,
        known.run_id,
        delivered.lot_id is not null or unchanged_records.vehicle_id is not null as is_seen,
        known.vehicle_id in (select vehicle_id from run.rejected_vehicles)
            or known.lot_id in (select lot_id from run.rejected_lots) as is_rejected
    from known
    full join delivered on delivered.lot_id = known.lot_id
    left join unchanged_records
        on unchanged_records.vehicle_id = known.vehicle_id and unchanged_records.seen_at = known.seen_at
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
    final.lot_id,
    case when final.is_latest then facts.seen_at else final.seen_at end as seen_at,
    case when final.is_latest then facts.kind else final.seen_by end as seen_by,
    case when final.is_seen then null when final.is_rejected then facts.seen_at else final.rejected_at end as rejected_at,
    case when final.is_seen then facts.run_id else final.run_id end as run_id
from final
cross join facts
