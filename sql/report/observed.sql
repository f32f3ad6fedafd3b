-- Since when each source is observed, and whether it was so without a break. One that has no auctions is domain 12.
select
    domain_name, min(observed_from) as since, max(span) > 1 as is_broken, coalesce(domain_id <> 12, false) as has_auctions
from observed_spans
group by domain_id, domain_name
order by domain_id
