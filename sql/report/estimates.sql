-- The last 250 trusted auction prices that are not doubted, with the estimates that do not know them.
with priced as (
    select *, row_number() over (order by priced_at desc, lot_id) as place
    from price_estimates
    anti join price_doubts using (lot_id)
    where market = 'auction' and price is not null and estimate > 0
)
select
    priced.lot_id, lots.lot, page_of_lot(priced.domain_id, trim(lots.lot), lots.external_id) as link, priced.domain_id,
    lots.domain_name, priced.currency, priced.estimate, priced.low_80, priced.high_80,
    case
        when priced.interval_reason is not null then 'too few prices of this class for an interval'
        when priced.is_unreliable then 'such estimates are often far off'
        -- its own price is one of them
        when priced.comparable_prices <= 1 then 'no price of a like car is known'
    end as weak,
    priced.price as value, priced.priced_at as moment
from priced
join lots using (lot_id)
where place <= 250
order by place
