with known as (
    from base.sightings where lot_id is not null
),
delivered as (
    select lot_id, max(vehicle_id) as vehicle_id from counted.lots group by all
),
unchanged as (
    -- an unchanged record brings the lots that it had when it was last loaded
    select vehicle_id, seen_at
    from base.sightings
    semi join run.unchanged_vehicles using (vehicle_id)
    where lot_id is null
),
matched as (
    select
        coalesce(delivered.vehicle_id, known.vehicle_id) as vehicle_id,
        known.* exclude (vehicle_id, lot_id),
        lot_id,
        known.vehicle_id in (from run.rejected_vehicles) or lot_id in (from run.rejected_lots) as is_rejected,
        delivered.lot_id is not null or unchanged.vehicle_id is not null as is_seen,
        -- a resumed pass may bring older records than another run has seen since
        is_seen and not (facts.is_resumed and coalesce(known.seen_at > facts.seen_at, false)) as is_latest
    from known
    full join delivered using (lot_id)
    left join unchanged on unchanged.vehicle_id = known.vehicle_id and unchanged.seen_at = known.seen_at
    cross join run.facts
)
select
    vehicle_id,
    lot_id,
    if(is_latest, facts.seen_at, matched.seen_at) as seen_at,
    if(is_latest, facts.kind, matched.seen_by) as seen_by,
    case when is_seen then null when is_rejected then facts.seen_at else matched.rejected_at end as rejected_at,
    if(is_seen, facts.run_id, matched.run_id) as run_id
from matched
cross join run.facts
