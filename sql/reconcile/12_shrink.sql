with counted as (
    select
        domain_id,
        count(*) filter (lot_id in (select lot_id from run.absent_lots)) as absent_lots,
        count(*) as active_lots
    from base.lots
    where archived is not true
    group by all
)
select counted.*, facts.proves_absence and absent_lots / active_lots > facts.shrink_guard as is_over
from counted
cross join run.facts
