with facts as (
    select proves_absence, shrink_guard from run.facts
),
active as (
    select lot_id, domain_id from base.lots where not coalesce(archived, false)
),
counted as (
    select
        domain_id,
        count(case when lot_id in (select lot_id from run.absent_lots) then 1 end) as absent_lots,
        count(*) as active_lots
    from active
    group by domain_id
)
select
    counted.domain_id,
    counted.absent_lots,
    counted.active_lots,
    facts.proves_absence and counted.absent_lots / counted.active_lots > facts.shrink_guard as is_over
from counted
cross join facts
