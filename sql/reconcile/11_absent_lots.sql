with facts as (
    select proves_absence, asks_all_sources from run.facts
),
active as (
    select lot_id, vehicle_id, domain_id from base.lots where not coalesce(archived, false)
),
unchanged as (
    select vehicle_id from run.unchanged_vehicles
),
delivered as (
    select vehicle_id, bool_or(lots) as has_lots from current.vehicle_members group by vehicle_id
),
listed as (
    select lot_id, domain_id from current.lots
),
present as (
    -- the lots of a rejected record are present, too
    select lot_id from listed
    union all
    select lot_id from run.rejected_lots
),
received as (
    select vehicle_id from delivered
    union all
    select vehicle_id from unchanged
),
sources as (
    -- sources from which the pass received records
    select domain_id from listed where domain_id is not null
    union
    select domain_id from active where vehicle_id in (select vehicle_id from unchanged)
),
absent as (
    select
        active.lot_id,
        active.domain_id,
        case when delivered.vehicle_id is not null then 'vehicle' else 'feed' end as reason,
        -- the vehicle of the lot came and no longer lists it
        coalesce(delivered.has_lots, false) as is_unlisted,
        -- the vehicle of the lot did not come, was not rejected, and is in no unproven range
        delivered.vehicle_id is null
            and active.vehicle_id not in (select vehicle_id from run.rejected_vehicles)
            and not exists (
                select 1
                from run.unproven as unproven
                where active.vehicle_id > unproven.low and active.vehicle_id < unproven.high
            ) as is_vehicle_absent
    from active
    left join delivered on delivered.vehicle_id = active.vehicle_id
    where active.lot_id not in (select lot_id from present)
        and active.vehicle_id not in (select vehicle_id from unchanged)
)
select absent.lot_id, absent.domain_id, absent.reason
from absent
cross join facts
where facts.proves_absence
    and exists (select 1 from received)
    -- an empty feed lacks the lots of every source, so that the guard holds the run
    and (absent.domain_id in (select domain_id from sources) or not exists (select 1 from sources))
    and (facts.asks_all_sources or absent.domain_id in (select domain_id from run.sources))
    and absent.domain_id not in (select domain_id from run.hidden_sources)
    and (absent.is_unlisted or absent.is_vehicle_absent)
