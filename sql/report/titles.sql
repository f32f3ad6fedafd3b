-- Titles of each source with most lots. Where two rows differ by brand or currency alone, brand and apart are these.
with most as (
    select
        name as title_name, group_name as title_brand, domain_id, domain_name, currency, lots, lots as value,
        known_sold as sold, priced_lots
    from lot_breakdown
    where subject = 'title' and domain_id is distinct from 12
    order by lots desc, domain_id, title_name, title_brand, currency
    limit 14
)
select
    *,
    case
        when count(distinct title_brand) over (partition by domain_id, title_name) > 1 then title_brand
    end as brand,
    case
        when count(*) over (partition by domain_id, title_name, title_brand) > 1
        then coalesce(currency, 'currency not known')
    end as apart
from most
order by lots desc, domain_id, title_name, title_brand, currency
