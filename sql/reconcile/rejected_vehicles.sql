select distinct try_cast(record_id as bigint) as vehicle_id
from run.rejects
where stream = 'cars' and table_name is null and vehicle_id is not null
