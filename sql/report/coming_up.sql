-- The auctions of the next seven days of lots with an estimate. First those whose Buy Now price lies below what three of four such
-- lots bring, the lowest first, if the estimate can be relied on; then the soonest.
select *, sale_date as moment, case when prices_above > 0.75 then prices_above end as stands
from lots_on_offer
where sale_date <= (select as_of from dim_settings) + interval 7 day and estimate > 0
order by
    stands desc nulls last,
    case when stands is not null then buy_now / estimate end,
    sale_date,
    lot_id
limit 40
