select vehicle_id, max(seq) as seq
from run.unchanged_records
anti join run.overtaken_vehicles using (vehicle_id)
group by all
union all
-- another run saw the vehicle after every page of this pass
select vehicle_id, 9223372036854775807 as seq from run.overtaken_vehicles
