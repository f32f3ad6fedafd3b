-- The last run, stream by stream.
select
    subject,
    max(value) filter (where metric = 'age_hours') as age_hours,
    max(value) filter (where metric = 'records') as records,
    max(value) filter (where metric = 'rejected') as rejected,
    max(value) filter (where metric = 'drifted_members') as drifted
from data_health
where started_at = (select max(started_at) from data_health)
group by subject
having count(*) filter (where metric in ('age_hours', 'records')) > 0
order by subject
