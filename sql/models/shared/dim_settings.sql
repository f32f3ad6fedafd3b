select
    max(started_at) as as_of,
    max_by(minimum_group, started_at) as minimum_group,
    max_by(relisting_days, started_at) as relisting_days,
    -- runs before the estimates did not state it
    coalesce(max_by(estimate_alarm, started_at), 0.25) as estimate_alarm,
    -- nothing is announced so far ahead; 9999-12-31 stands for none
    day_of(max(started_at) + interval '2' year) as last_day
from runs
-- an older lotlake recorded no outcome
where coalesce(outcome, 'published') = 'published'
