-- description: A run is recorded. Its start stands for now in the marts.
-- severity: error
select count(*) as runs
from runs
where coalesce(outcome, 'published') = 'published'
having max(started_at) is null
