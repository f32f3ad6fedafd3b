with repeated as (
    select vehicle_id from run.receipts where staged_times > 1 or unchanged_seq > staged_seq
    union
    select vehicle_id from run.overtaken_vehicles
),
valid as (
    -- the last staged copy in each list, unless an unchanged record followed
    select vehicle_id, staged_seq as _seq
    from run.receipts
    anti join run.overtaken_vehicles using (vehicle_id)
    where staged_seq >= coalesce(unchanged_seq, -1)
)
select distinct vehicle_id, _seq as seq
from stage.vehicles
semi join repeated using (vehicle_id)
anti join valid using (vehicle_id, _seq)
