-- The estimate of a lot is kept once its auction is over. Later snapshots know the price, or estimate another offer.
select
    given.lot_id,
    given.domain_id,
    given.given_at,
    given.market,
    given.currency,
    given.estimate,
    given.low_80,
    given.low_50,
    given.high_50,
    given.high_80,
    given.widened,
    facts.run_id
from base.price_estimates as given
join base.lots as old using (lot_id)
join next.lots as new using (lot_id)
cross join run.facts
where given.is_offered
    and given.price is null
    -- less than half a dollar is rounded to 0, to which no price can be compared
    and given.estimate > 0
    and (
        (old.sale_date >= given.given_at and old.sale_date < facts.seen_at)
        -- sold at another time than the announced one, or no longer offered
        or new.status_id is distinct from old.status_id
        or new.final_bid is distinct from old.final_bid
        or new.archived is distinct from old.archived
    )
