with loaded as (
    select vehicle_id from stage.vehicles
),
reports as (
    select vehicle_id, domain_id, gone_at from next.inspections
    union all
    select vehicle_id, domain_id, gone_at from next.history_reports
)
select vehicle_id
from next.lots
cross join run.facts
where archived_by = 'archive-feed' or (facts.is_carried and archived_by <> 'feed')
union
-- several records list the lot, and the last one decides
select vehicle_id from run.lot_claims
union
-- the vehicle came several times, so that this run took none of its rows for gone
select vehicle_id from loaded group by all having count(*) > 1
union
select vehicle_id from run.unchanged_vehicles semi join loaded using (vehicle_id)
union
-- the record lacks an active lot of the vehicle, for example because the key lost its source
select vehicle_id
from next.lots
semi join loaded using (vehicle_id)
anti join stage.lots as staged using (lot_id)
where not archived
union
select vehicle_id
from reports
semi join loaded using (vehicle_id)
semi join run.hidden_sources using (domain_id)
where gone_at is null
