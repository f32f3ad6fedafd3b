with facts as (
    select run_id, is_carried from run.facts
),
lots as (
    select vehicle_id, archived_by, run_id from next.lots
),
vehicles as (
    select vehicle_id, run_id from next.vehicles
)
select lots.vehicle_id
from lots
cross join facts
where lots.run_id = facts.run_id
    -- the feed may list the lot again unchanged
    or lots.archived_by = 'archive-feed'
    -- landing does not explain the state of a lot that the rebuild carried over
    or (facts.is_carried and lots.archived_by <> 'feed')
union
select vehicles.vehicle_id
from vehicles
cross join facts
where vehicles.run_id = facts.run_id
union
select vehicle_id from run.lot_claims
union
select vehicle_id from stage.vehicles
