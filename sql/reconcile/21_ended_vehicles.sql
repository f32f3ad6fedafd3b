with facts as (
    select seen_at, proves_absence, asks_all_sources from run.facts
),
active as (
    select vehicle_id from base.vehicles where not coalesce(archived, false)
),
lots as (
    select vehicle_id, all_archived, archived_at, archived_by, last_seen_at, is_news from run.lots_of_vehicles
),
sightings as (
    select vehicle_id, seen_at from next.sightings where lot_id is null
),
delivered as (
    select vehicle_id from run.unchanged_vehicles
    union all
    select vehicle_id from stage.vehicles
),
candidates as (
    select
        active.vehicle_id,
        lots.archived_at,
        lots.archived_by,
        coalesce(lots.last_seen_at, sightings.seen_at) as last_seen_at,
        coalesce(lots.all_archived, false) as has_ended,
        coalesce(lots.is_news, false) as is_news,
        lots.vehicle_id is null as has_no_lots,
        not exists (
            select 1
            from run.unproven as unproven
            where active.vehicle_id > unproven.low and active.vehicle_id < unproven.high
        ) as is_proven
    from active
    left join sightings on sightings.vehicle_id = active.vehicle_id
    left join lots on lots.vehicle_id = active.vehicle_id
    where active.vehicle_id not in (select vehicle_id from delivered)
        and active.vehicle_id not in (select vehicle_id from run.rejected_vehicles)
)
select
    candidates.vehicle_id,
    true as archived,
    coalesce(candidates.archived_at, facts.seen_at) as archived_at,
    coalesce(candidates.archived_by, 'absence') as archived_by,
    candidates.last_seen_at
from candidates
cross join facts
where (candidates.has_ended and candidates.is_news)
    -- if no lot ended in this run, the feed may still list the vehicle, so only its absence ends it
    or (
        facts.proves_absence
        and candidates.is_proven
        and (candidates.has_ended or (candidates.has_no_lots and facts.asks_all_sources))
    )
