-- description: Shares in lot_breakdown add to 1 in a source platform and currency, and titles have the same lots, offers, sales and prices as types of sellers.
-- severity: error
with signed as (
    select *, case subject when 'title' then 1 else -1 end as sign from lot_breakdown
)
select
    domain_id,
    currency,
    sum(share) filter (where subject = 'title') as title_shares,
    sum(share * sign) as shares,
    sum(lots * sign) as lots,
    sum(known_sold * sign) as known_sold,
    sum(lots_offered * sign) as lots_offered,
    sum(lots_sold * sign) as lots_sold,
    sum(priced_lots * sign) as priced_lots
from signed
group by domain_id, currency
having
    not abs(sum(share) filter (where subject = 'title') - 1) < 0.000001
    or not abs(sum(share * sign)) < 0.000001
    or sum(lots * sign) <> 0
    or sum(known_sold * sign) <> 0
    or sum(lots_offered * sign) <> 0
    or sum(lots_sold * sign) <> 0
    or sum(priced_lots * sign) <> 0
