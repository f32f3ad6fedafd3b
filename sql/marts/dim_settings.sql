select
    max(started_at) as as_of,
    max_by(minimum_group, started_at) as minimum_group,
    max_by(relisting_days, started_at) as relisting_days
from runs
