with facts as (
    select seen_at, is_resumed from run.facts
),
sightings as (
    select vehicle_id, lot_id, seen_at from base.sightings
)
-- No other run works during a new pass. In a new pass, a later sighting comes from a wrong clock and does not count.
select sightings.vehicle_id
from sightings
cross join facts
where facts.is_resumed and sightings.lot_id is null and sightings.seen_at > facts.seen_at
