-- What the last run of each pipeline found. The records of runs know more than the snapshot: also those after it.
select run_id, started_at, pipeline, subject, metric, value, is_alarm
from data_health
where is_current and metric <> 'failing_runs'
order by started_at desc, subject, metric
