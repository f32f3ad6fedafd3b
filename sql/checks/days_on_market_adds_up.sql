-- description: Each level of days_on_market has all lots of a source platform - those watched, sold, open and gone.
-- severity: error
with sums as (
    select
        level,
        domain_id,
        sum(lots) as lots,
        sum(sold) as sold,
        sum(left_lots) as left_lots,
        sum(known_sold) as known_sold,
        sum(open_lots) as open_lots,
        sum(known_left) as known_left
    from days_on_market
    group by all
)
select domain_id, count(*) as levels, min(lots) as fewest_lots, max(lots) as most_lots
from sums
group by domain_id
having count(*) <> 5
    or min(lots) <> max(lots)
    or min(sold) <> max(sold)
    or min(left_lots) <> max(left_lots)
    or min(known_sold) <> max(known_sold)
    or min(open_lots) <> max(open_lots)
    or min(known_left) <> max(known_left)
