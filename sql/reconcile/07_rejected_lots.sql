with rejects as (
    select stream, table_name, raw from run.rejects
),
ids as (
    select json_extract_string(case when json_valid(raw) then raw end, '$.lots[*].id') as ids
    from rejects
    where stream = 'cars' and table_name is null
)
select distinct try_cast(lots.id as bigint) as lot_id
from ids
cross join unnest(ids.ids) as lots(id)
where try_cast(lots.id as bigint) is not null
