with receipts as (
    select vehicle_id, staged_seq, staged_times, unchanged_seq from run.receipts
),
overtaken as (
    select vehicle_id from run.overtaken_vehicles
),
staged as (
    select vehicle_id, _seq as seq from stage.vehicles
),
repeated as (
    select vehicle_id from receipts where staged_times > 1 or unchanged_seq > staged_seq
    union
    select vehicle_id from overtaken
),
valid as (
    -- the last staged copy in each list, unless an unchanged record followed
    select vehicle_id, staged_seq as seq
    from receipts
    where staged_seq >= coalesce(unchanged_seq, -1) and vehicle_id not in (select vehicle_id from overtaken)
)
select distinct staged.vehicle_id, staged.seq
from staged
left join valid on valid.vehicle_id = staged.vehicle_id and valid.seq = staged.seq
where staged.vehicle_id in (select vehicle_id from repeated) and valid.seq is null
