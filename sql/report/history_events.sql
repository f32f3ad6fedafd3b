-- Events of history reports by source, type and currency, most events first. Where they come from several sources,
-- apart is the source.
with named as (
    select distinct domain_id, domain_name from check_breakdown where domain_id is not null
),
events as (
    select
        c.domain_id,
        coalesce(n.domain_name, 'source ' || coalesce(cast(c.domain_id as varchar), 'not given')) as source,
        c.type_key,
        c.currency,
        count(*) as events,
        count(c.amount_total) as with_amount,
        sum(c.amount_total) as amount,
        case
            when with_amount >= (select minimum_group from dim_settings) then median(c.amount_total)
        end as amount_median
    from claim_history as c
    left join named as n on n.domain_id = c.domain_id
    group by all
)
select
    *,
    events as value,
    nullif(with_amount, 0) as based_on,
    case when min(source) over () <> max(source) over () then source end as apart
from events
order by events desc, type_key, currency nulls last, domain_id
