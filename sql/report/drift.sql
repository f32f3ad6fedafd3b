-- Members that the contract does not know and that the service still sends, with the run that first told of each.
with sealed as (
    select stream, kind, run_id, started_at, drift from passes where state = 'sealed'
),
lasts as (
    -- windows and lookups may lack a member that few records have
    select stream, coalesce(max(started_at) filter (where kind = 'full'), max(started_at)) as started_at
    from sealed
    group by stream
),
seen as (
    select stream, run_id, started_at, unnest(json_extract_string(drift, '$[*].path')) as path from sealed
)
select
    seen.stream, seen.path, arg_min(seen.run_id, seen.started_at) as run_id, min(seen.started_at) as since
from seen
inner join lasts on lasts.stream = seen.stream
group by seen.stream, seen.path, lasts.started_at
having max(seen.started_at) >= lasts.started_at
order by since, seen.stream, seen.path
