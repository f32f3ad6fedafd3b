select
    estimates.lot_id,
    odds.attempt,
    odds.sale_date,
    odds.sell_probability,
    odds.sell_probability_low,
    odds.sell_probability_high
from price_estimates as estimates
inner join lots on lots.lot_id = estimates.lot_id
left join sell_through_odds as odds on odds.lot_id = estimates.lot_id
where
    is_offered
    -- a lot that was sold without a known price, or replaced by another lot of the car, has no odds and is not offered
    and (estimates.market = 'asking' or odds.lot_id is not null)
    -- without a date, what is not checked, not on sale, on approval, sold, failed or not sold waits for its seller
    and (odds.sale_date is not null or coalesce(lots.status_id, 0) not in (1, 2, 4, 6, 7, 8))
