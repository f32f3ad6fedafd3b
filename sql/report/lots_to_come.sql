-- The next auctions of lots with an estimate, the soonest first.
with next_attempts as (
    select lot_id, max(sale_date) as moment from sales where outcome = 'upcoming' group by lot_id
)
select
    next_attempts.moment, lots.lot, lots.domain_id, lots.domain_name, vehicle_facts.year,
    manufacturer_names.manufacturer_name, model_names.model_name, groups.damage_main_group, groups.title_brand,
    estimates.currency, estimates.estimate, estimates.low_80, estimates.high_80, nullif(lots.bid, 0) as bid, estimates.buy_now,
    odds.sell_probability
from next_attempts
join price_estimates estimates using (lot_id)
join lots using (lot_id)
join lot_groups groups using (lot_id)
left join vehicle_facts on vehicle_facts.vehicle_id = lots.vehicle_id
left join dim_manufacturers manufacturer_names using (manufacturer_id)
left join dim_models model_names using (model_id)
left join sell_through_odds odds using (lot_id)
where estimates.estimate is not null
order by moment, lot_id
limit 40
