-- Lots on offer that were offered three times and more, with what was bid for them first and last. First those whose Buy Now price
-- is the lowest against the estimate, then those whose last top bid is; an estimate in doubt comes last.
with often as (
    select
        lot_id,
        vehicle_id,
        domain_id,
        domain_name,
        lot,
        link,
        year,
        manufacturer_name,
        model_name,
        attempt - 1 as offered,
        currency,
        bid,
        buy_now,
        estimate,
        low_80,
        high_80,
        weak,
        prices_above
    from lots_on_offer
    where attempt > 3
),
bids as (
    -- an amount below 2 is a placeholder
    select lot_id, min_by(amount, attempt) as first_bid, max_by(amount, attempt) as last_bid
    from sales
    semi join often using (lot_id)
    where outcome in ('not_sold', 'on_approval') and amount >= 2 and plausible_price(amount) is not null
    group by lot_id
)
select *
from often
left join bids using (lot_id)
order by
    case when prices_above is not null then buy_now / estimate end nulls last,
    case when weak is null then last_bid / estimate end nulls last,
    lot_id
limit 40
