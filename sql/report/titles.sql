-- Titles of each source with most lots. Where two rows differ by brand or currency alone, brand and apart are these.
with most as (
    select
        title_name, title_brand, domain_id, domain_name, currency, lots, lots_sold as sold, compared_lots as based_on,
        price_ratio_median as middle
    from title_breakdown
    where domain_id is distinct from 12
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
