-- No other run works during a new pass. In a new pass, a later sighting comes from a wrong clock and does not count.
select vehicle_id
from base.sightings
cross join run.facts
where facts.is_resumed and sightings.lot_id is null and sightings.seen_at > facts.seen_at
