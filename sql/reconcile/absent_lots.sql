with active as (
    select lot_id, vehicle_id, domain_id from base.lots where archived is not true
),
delivered as (
    select vehicle_id, bool_or(lots) as has_lots from counted.vehicle_members group by all
),
listed as (
    select lot_id, domain_id from counted.lots
),
received as (
    select domain_id from listed where domain_id is not null
    union
    select domain_id from active semi join run.unchanged_vehicles using (vehicle_id) where domain_id is not null
),
unjudged as (
    -- sources of which the pass shows nothing: not asked for, or without a record of them
    select domain_id
    from active
    cross join run.facts
    where domain_id is not null
        and (
            not (facts.asks_all_sources or domain_id in (from run.sources))
            -- an empty feed lacks the lots of every source, so that the guard holds the run
            or (domain_id not in (from received) and exists (from received))
        )
    union
    select domain_id from run.hidden_sources
)
select lot_id, domain_id, if(delivered.vehicle_id is null, 'feed', 'vehicle') as reason
from active
cross join run.facts
left join delivered using (vehicle_id)
anti join listed using (lot_id)
-- the lots of a rejected record are present, too
anti join run.rejected_lots using (lot_id)
anti join run.unchanged_vehicles using (vehicle_id)
where facts.proves_absence
    and (exists (from delivered) or exists (from run.unchanged_vehicles))
    -- a lot without a source may be of one that is not judged: if there is one, NOT IN gives null
    and domain_id not in (from unjudged)
    and (
        -- the vehicle of the lot came and no longer lists it
        delivered.has_lots
        -- the vehicle of the lot did not come, was not rejected, and is in no unproven range
        or (
            delivered.vehicle_id is null
            and vehicle_id not in (from run.rejected_vehicles)
            and not exists (from run.unproven where vehicle_id > low and vehicle_id < high)
        )
    )
