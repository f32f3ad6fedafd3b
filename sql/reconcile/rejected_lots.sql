with listed as (
    select unnest(try_cast(raw as json) ->> '$.lots[*].id') as id
    from run.rejects
    where stream = 'cars' and table_name is null
)
select distinct try_cast(id as bigint) as lot_id from listed where lot_id is not null
