-- The ten last runs, a row each.
select
    started_at, pipeline,
    max(value) filter (where subject = 'run' and metric = 'minutes') as minutes,
    max(value) filter (where subject = 'run' and metric = 'warnings') as warnings,
    max(value) filter (where subject = 'run' and metric = 'guard_held') as held,
    count(*) filter (where is_alarm) as alarms
from data_health
group by run_id, started_at, pipeline
order by started_at desc
limit 10
