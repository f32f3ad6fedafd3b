with rejects as (
    select stream, table_name, record_id from run.rejects
)
select distinct try_cast(record_id as bigint) as vehicle_id
from rejects
where stream = 'cars' and table_name is null and try_cast(record_id as bigint) is not null
