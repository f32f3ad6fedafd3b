-- The auctions of the next seven days of lots with an estimate. First those whose Buy Now price lies lowest below the estimate,
-- in deviations of the estimate, if the estimate has an interval that can be relied on; then the soonest.
with next_attempts as (
    select lot_id, max(sale_date) as moment from sales where outcome = 'upcoming' group by lot_id
),
upcoming as (
    select
        next_attempts.moment, lots.lot_id, lots.lot, lots.external_id, lots.domain_id, lots.domain_name, vehicle_facts.year,
        manufacturer_names.manufacturer_name, model_names.model_name, lots.location_city_name as city,
        upper(lots.location_state_code) as state_code, odometer_readings.odometer_km, groups.damage_main_group,
        lots.damage_main_name, groups.title_brand, lots.title_name, estimates.currency, estimates.estimate, estimates.low_80,
        estimates.high_80, estimates.low_50, estimates.high_50, nullif(lots.bid, 0) as bid, estimates.buy_now,
        odds.sell_probability, estimates.interval_reason is null and not estimates.is_unreliable as is_sure,
        case
            when estimates.interval_reason is not null then 'too few prices of this class for an interval'
            when estimates.is_unreliable then 'estimates of this make are often far off'
        end as weak,
        case when is_sure then ln(estimates.estimate / estimates.buy_now) / estimates.log_deviation end as deviations
    from next_attempts
    join price_estimates estimates using (lot_id)
    join lots using (lot_id)
    join lot_groups groups using (lot_id)
    left join vehicle_facts on vehicle_facts.vehicle_id = lots.vehicle_id
    left join dim_manufacturers manufacturer_names using (manufacturer_id)
    left join dim_models model_names using (model_id)
    left join odometer_readings using (lot_id)
    left join sell_through_odds odds using (lot_id)
    where estimates.estimate > 0 and next_attempts.moment <= (select as_of from dim_settings) + interval 7 day
)
select
    *,
    case
        when not is_sure then weak
        when buy_now < low_80 then 'Buy Now below 9 in 10 of such sales'
        when buy_now < low_50 then 'Buy Now below 3 in 4 of such sales'
        when bid > high_80 then 'bid above 9 in 10 of such sales'
        when bid > high_50 then 'bid above 3 in 4 of such sales'
    end as stands_out
from upcoming
order by case when buy_now < low_50 then deviations end desc nulls last, moment, lot_id
limit 40
