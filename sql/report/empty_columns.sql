-- Columns that lack values after the last run.
select subject, value
from data_health
where started_at = (select max(started_at) from data_health) and metric = 'null_share'
order by coalesce(value, 0) desc, subject
