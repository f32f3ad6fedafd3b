with sightings as (
    select vehicle_id, seen_at from next.sightings where lot_id is null
)
select
    vehicle_id,
    true as archived,
    coalesce(lots.archived_at, facts.seen_at) as archived_at,
    coalesce(lots.archived_by, 'absence') as archived_by,
    coalesce(lots.last_seen_at, sightings.seen_at) as last_seen_at
from base.vehicles
cross join run.facts
left join sightings using (vehicle_id)
left join run.lots_of_vehicles as lots using (vehicle_id)
anti join stage.vehicles as staged using (vehicle_id)
anti join run.unchanged_vehicles using (vehicle_id)
anti join run.rejected_vehicles using (vehicle_id)
where vehicles.archived is not true
    and (
        (lots.all_archived and lots.is_news)
        -- if no lot ended in this run, the feed may still list the vehicle, so only its absence ends it
        or (
            facts.proves_absence
            and (lots.all_archived or (lots.vehicle_id is null and facts.asks_all_sources))
            and not exists (from run.unproven where vehicle_id > low and vehicle_id < high)
        )
    )
