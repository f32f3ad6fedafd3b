-- Lots on offer at auctions by source, and how many of them were offered three times and more.
select
    domain_id,
    any_value(domain_name) as domain_name,
    count(*) as lots,
    count(*) filter (where attempt > 3) as often_lots,
    case when count(*) >= (select minimum_group from dim_settings) then often_lots / lots end as share,
    max(attempt) - 1 as most_offered
from lots_on_offer
where attempt is not null
group by domain_id
having often_lots > 0
order by often_lots desc, domain_id
