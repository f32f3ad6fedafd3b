-- Lots on offer at auctions by source, and how many of them were offered three times and more.
select
    domain_id,
    any_value(offers.domain_name) as domain_name,
    count(*) as lots,
    count(*) filter (where odds.attempt > 3) as often_lots,
    case when count(*) >= (select minimum_group from dim_settings) then often_lots / lots end as share,
    max(odds.attempt) - 1 as most_offered
from lots_on_offer as offers
inner join sell_through_odds as odds using (lot_id, domain_id)
group by domain_id
having often_lots > 0
order by often_lots desc, domain_id
