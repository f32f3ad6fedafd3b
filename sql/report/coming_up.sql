-- The auctions of the next seven days of lots with an estimate. First those whose Buy Now price lies lowest below the estimate,
-- in deviations of the estimate, if the estimate has an interval that can be relied on; then the soonest.
with next_attempts as (
    select lot_id, max(sale_date) as moment from sales where outcome = 'upcoming' group by lot_id
),
chosen as (
    -- chosen before the wide tables are read
    select
        next_attempts.moment, estimates.*,
        case
            when interval_reason is not null then 'too few prices of this class for an interval'
            when is_unreliable then 'such estimates are often far off'
        end as weak,
        case when weak is null and buy_now < low_50 then ln(estimate / buy_now) / log_deviation end as deviations
    from next_attempts
    join price_estimates estimates using (lot_id)
    where estimate > 0 and moment <= (select as_of from dim_settings) + interval 7 day
    order by deviations desc nulls last, moment, lot_id
    limit 40
)
select
    chosen.moment, lots.lot_id, lots.lot, lots.external_id, lots.domain_id, lots.domain_name, vehicle_facts.year,
    manufacturer_names.manufacturer_name, model_names.model_name, lots.location_city_name as city,
    upper(lots.location_state_code) as state_code, odometer_readings.odometer_km, groups.damage_main_group,
    lots.damage_main_name, groups.title_brand, lots.title_name, chosen.currency, chosen.estimate, chosen.low_80, chosen.high_80,
    nullif(lots.bid, 0) as bid, chosen.buy_now, odds.sell_probability, chosen.weak,
    case
        when chosen.weak is not null then chosen.weak
        when chosen.buy_now < low_80 then 'Buy Now below 9 in 10 of such sales'
        when chosen.buy_now < low_50 then 'Buy Now below 3 in 4 of such sales'
        when lots.bid > high_80 then 'bid above 9 in 10 of such sales'
        when lots.bid > high_50 then 'bid above 3 in 4 of such sales'
    end as stands_out
from chosen
join lots using (lot_id)
join lot_groups groups using (lot_id)
left join vehicle_facts on vehicle_facts.vehicle_id = lots.vehicle_id
left join dim_manufacturers manufacturer_names using (manufacturer_id)
left join dim_models model_names using (model_id)
left join odometer_readings using (lot_id)
left join sell_through_odds odds using (lot_id)
order by deviations desc nulls last, moment, lot_id
