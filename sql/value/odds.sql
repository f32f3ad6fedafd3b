-- The chance that a lot on offer is sold at its next attempt, or why none is told.
select
    attempt,
    cast(cast(sale_date as date) as varchar) as auction_on,
    sell_probability,
    sell_probability_low,
    sell_probability_high,
    reason
from sell_through_odds
where lot_id = $lot
