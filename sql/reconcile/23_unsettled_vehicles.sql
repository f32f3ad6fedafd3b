with facts as (
    select is_carried from run.facts
),
loaded as (
    select vehicle_id from stage.vehicles
),
lots as (
    select lot_id, vehicle_id, archived, archived_by from next.lots
),
reports as (
    select vehicle_id, domain_id, gone_at from next.inspections
    union all
    select vehicle_id, domain_id, gone_at from next.history_reports
)
select lots.vehicle_id
from lots
cross join facts
where lots.archived_by = 'archive-feed' or (facts.is_carried and lots.archived_by <> 'feed')
union
-- several records list the lot, and the last one decides
select vehicle_id from run.lot_claims
union
-- the vehicle came changed first, then unchanged
select vehicle_id from run.unchanged_vehicles where vehicle_id in (select vehicle_id from loaded)
union
-- the record lacks an active lot of the vehicle, for example because the key lost its source
select vehicle_id
from lots
where not archived
    and vehicle_id in (select vehicle_id from loaded)
    and lot_id not in (select lot_id from stage.lots)
union
select vehicle_id
from reports
where gone_at is null
    and domain_id in (select domain_id from run.hidden_sources)
    and vehicle_id in (select vehicle_id from loaded)
