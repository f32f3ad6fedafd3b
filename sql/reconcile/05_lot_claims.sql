with staged as (
    select lot_id, vehicle_id, _seq as seq
    from stage.lots
    anti join run.outdated_receipts as outdated on outdated.vehicle_id = lots.vehicle_id and outdated.seq = lots._seq
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
    select lot_id, vehicle_id, seq from staged semi join contested using (lot_id)
    union all
    -- an unchanged record lists the lot if it listed the lot when it was last loaded
    select lot_id, known_claims.vehicle_id, coalesce(unchanged.seq, -1) as seq
    from known_claims
    left join owners using (vehicle_id, seen_at)
    left join run.unchanged_vehicles as unchanged on unchanged.vehicle_id = owners.vehicle_id
)
select
    lot_id,
    vehicle_id,
    row_number() over (partition by lot_id order by max(seq) desc, vehicle_id desc) > 1 as is_lost
from claims
group by lot_id, vehicle_id
