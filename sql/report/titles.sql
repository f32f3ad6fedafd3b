-- Lots of each source by kind of title, with the titles that the feed gives them.
select
    group_name as title_brand, domain_id, max(domain_name) as domain_name,
    array_to_string(list(distinct name order by name)[:12], '; ') as titles,
    sum(lots) as lots, sum(lots) as value, sum(known_sold) as sold, sum(priced_lots) as priced_lots
from lot_breakdown
where subject = 'title' and domain_id is distinct from 12
group by group_name, domain_id
order by lots desc, domain_id, title_brand
limit 14
