select vehicle_id
from next.lots
cross join run.facts
where lots.run_id = facts.run_id
    -- the feed may list the lot again unchanged
    or archived_by = 'archive-feed'
    -- landing does not explain the state of a lot that the rebuild carried over
    or (facts.is_carried and archived_by <> 'feed')
union
select vehicle_id from next.vehicles semi join run.facts using (run_id)
union
select vehicle_id from run.lot_claims
union
select vehicle_id from stage.vehicles
