-- What the last run of each pipeline found, with the members that the contract does not know if this run first brought
-- them. The noted failures of runs know more than the snapshot: also those after it.
with seen as (
    select stream, run_id, started_at, unnest(json_extract_string(drift, '$[*].path')) as path
    from passes
    where state = 'sealed'
),
firsts as (
    select stream, path, arg_min(run_id, started_at) as run_id
    from seen
    group by stream, path
),
new_members as (
    select stream, run_id, list(path order by path) as members
    from firsts
    group by stream, run_id
)
select h.run_id, h.started_at, h.pipeline, h.subject, h.metric, h.value, h.is_alarm, n.members
from data_health as h
left join new_members as n on n.stream = h.subject and n.run_id = h.run_id
where h.is_current and h.metric <> 'failing_runs'
order by h.started_at desc, h.subject, h.metric
