with counted as (
    select
        domain_id,
        count(*) filter (lot_id in (select lot_id from run.absent_lots)) as absent_lots,
        count(*) as own_lots
    from base.lots
    where archived is not true
    group by all
),
compared as (
    select
        domain_id,
        absent_lots,
        -- lots without a source are no source of their own: a few of them are a share of all lots
        if(domain_id is null, sum(own_lots) over ()::bigint, own_lots) as active_lots
    from counted
)
select compared.*, facts.proves_absence and absent_lots / active_lots > facts.shrink_guard as is_over
from compared
cross join run.facts
