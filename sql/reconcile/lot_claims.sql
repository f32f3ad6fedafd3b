with staged as (
    select lot_id, vehicle_id, _seq as seq, updated_at
    from stage.lots
    anti join run.overtaken_vehicles using (vehicle_id)
),
known as (
    select lot_id, vehicle_id, seen_at from base.sightings
),
contested as (
    select lot_id from staged group by all having min(vehicle_id) <> max(vehicle_id)
    union
    select lot_id from staged join known using (lot_id) where known.vehicle_id <> staged.vehicle_id
),
known_claims as (
    from known semi join contested using (lot_id)
),
owners as (
    select vehicle_id, seen_at
    from known
    semi join known_claims using (vehicle_id)
    where lot_id is null
),
claims as (
    select lot_id, vehicle_id, seq, if(updated_at > facts.ended_at, null, updated_at) as updated_at
    from staged
    semi join contested using (lot_id)
    cross join run.facts
    union all
    -- an unchanged record lists the lot if it listed the lot when it was last loaded
    select
        lot_id,
        known_claims.vehicle_id,
        coalesce(unchanged.seq, -1) as seq,
        if(unchanged.vehicle_id is null, null, lots.updated_at) as updated_at
    from known_claims
    left join owners using (vehicle_id, seen_at)
    left join run.unchanged_vehicles as unchanged on unchanged.vehicle_id = owners.vehicle_id
    left join base.lots as lots using (lot_id)
),
last_copies as (
    select vehicle_id, max(seq) as seq
    from (
        select vehicle_id, _seq as seq from stage.vehicles
        union all
        select vehicle_id, seq from run.unchanged_vehicles
    )
    semi join claims using (vehicle_id)
    group by all
)
select
    lot_id,
    vehicle_id,
    -- a later copy of the vehicle may no longer list the lot
    bool_or(claims.seq >= coalesce(last_copies.seq, 0)) as is_listed,
    row_number() over (
        partition by lot_id
        order by
            bool_or(claims.seq >= 0) desc,
            max(claims.updated_at) desc nulls last,
            is_listed desc,
            -- the page that came last, and of one page the last vehicle: their ids ascend
            max(claims.seq >> 32) desc,
            vehicle_id desc
    ) > 1 as is_lost
from claims
left join last_copies using (vehicle_id)
group by lot_id, vehicle_id
