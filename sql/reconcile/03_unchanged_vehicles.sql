select vehicle_id, max(unchanged_seq) as seq
from run.receipts
anti join run.overtaken_vehicles using (vehicle_id)
where unchanged_seq > coalesce(staged_seq, -1)
group by all
union all
-- another run saw the vehicle after every page of this pass
select vehicle_id, 9007199254740991 as seq from run.overtaken_vehicles
