-- The share of offered lots that are sold, of the last 24 months.
select
    *,
    month as moment,
    sell_through_3m as value,
    case
        when month + interval 1 month > (select max(started_at) from runs) then 'so far'
        when observed = 'part' then 'in part'
    end as state,
    case when observed in ('whole', 'part') then coalesce(lots_offered, 0) end as offered_observed,
    case when observed in ('whole', 'part') then null else 'not observed' end as not_observed
from sell_through
where month > (select max(month) from sell_through) - interval 24 month
order by domain_id, month
