-- Members that the contract does not know, by stream and the run that first brought them.
with seen as (
    select stream, run_id, started_at, unnest(json_extract_string(drift, '$[*].path')) as path
    from passes
    where state = 'sealed'
),
firsts as (
    select stream, path, arg_min(run_id, started_at) as run_id
    from seen
    group by stream, path
)
select stream, run_id, list(path order by path) as members
from firsts
group by stream, run_id
