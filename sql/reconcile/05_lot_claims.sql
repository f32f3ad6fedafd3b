with staged as (
    select lots.lot_id, lots.vehicle_id, lots._seq as seq
    from stage.lots as lots
    left join run.outdated_receipts as outdated
        on outdated.vehicle_id = lots.vehicle_id and outdated.seq = lots._seq
    where outdated.seq is null
),
known as (
    select vehicle_id, lot_id, seen_at from base.sightings
),
unchanged as (
    select vehicle_id, seq from run.unchanged_vehicles
),
contested as (
    select lot_id from staged group by lot_id having min(vehicle_id) <> max(vehicle_id)
    union
    select staged.lot_id
    from staged
    join known on known.lot_id = staged.lot_id and known.vehicle_id <> staged.vehicle_id
),
known_claims as (
    select lot_id, vehicle_id, seen_at from known where lot_id in (select lot_id from contested)
),
owners as (
    select vehicle_id, seen_at
    from known
    where lot_id is null and vehicle_id in (select vehicle_id from known_claims)
),
claims as (
    select lot_id, vehicle_id, seq from staged where lot_id in (select lot_id from contested)
    union all
    -- an unchanged record lists the lot if it listed the lot when it was last loaded
    select known_claims.lot_id, known_claims.vehicle_id, coalesce(unchanged.seq, -1) as seq
    from known_claims
    left join owners on owners.vehicle_id = known_claims.vehicle_id and owners.seen_at = known_claims.seen_at
    left join unchanged on unchanged.vehicle_id = owners.vehicle_id
),
last_claims as (
    select lot_id, vehicle_id, max(seq) as seq from claims group by lot_id, vehicle_id
)
select
    lot_id,
    vehicle_id,
    row_number() over (partition by lot_id order by seq desc nulls last, vehicle_id desc nulls last) > 1 as is_lost
from last_claims
