with offered as (
    select
        *,
        case when market = 'asking' then price else buy_now end as asked,
        if(market = 'asking', 'asks', 'Buy Now') as asks,
        case
            when estimate is null then null
            when not is_currency_known then 'the currency of the lot is not known'
            when interval_reason is not null then 'too few prices of this class for an interval'
            when is_unreliable then 'such estimates are often far off'
        end as weak
    from price_estimates
    where is_offered
)
select
    estimates.lot_id,
    lots.vehicle_id,
    vehicles.vin,
    lots.domain_id,
    lots.domain_name,
    trim(lots.lot) as lot,
    page_of_lot(lots.domain_id, trim(lots.lot), lots.external_id) as link,
    facts.year,
    facts.manufacturer_id,
    manufacturer_names.manufacturer_name,
    facts.model_id,
    model_names.model_name,
    readings.odometer_km,
    groups.damage_main_group,
    lots.damage_main_name,
    groups.title_brand,
    lots.title_name,
    groups.country_code,
    nullif(groups.state_code, 'unknown') as state_code,
    lots.location_city_name as city_name,
    lots.selling_branch_name as branch_name,
    lots.seller_name,
    groups.seller_group,
    estimates.market,
    odds.sale_date,
    estimates.currency,
    nullif(lots.bid, 0) as bid,
    estimates.asked as buy_now,
    estimates.estimate,
    estimates.low_80,
    estimates.low_50,
    estimates.high_50,
    estimates.high_80,
    estimates.weak,
    case
        when estimates.weak is null and estimates.estimate > 0 and asked < estimates.low_50
            then ln(estimates.estimate / asked) / estimates.log_deviation
    end as deviations,
    case
        when estimates.weak is not null then null
        when asked < estimates.low_80 then asks || ' below 9 in 10 of such prices'
        when asked < estimates.low_50 then asks || ' below 3 in 4 of such prices'
        when lots.bid > estimates.high_80 then 'bid above 9 in 10 of such prices'
        when lots.bid > estimates.high_50 then 'bid above 3 in 4 of such prices'
    end as stands_out,
    odds.sell_probability
from offered as estimates
inner join lots on lots.lot_id = estimates.lot_id
inner join lot_groups as groups on groups.lot_id = estimates.lot_id
left join vehicles on vehicles.vehicle_id = lots.vehicle_id
left join vehicle_facts as facts on facts.vehicle_id = lots.vehicle_id
left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = facts.manufacturer_id
left join dim_models as model_names on model_names.model_id = facts.model_id
left join odometer_readings as readings on readings.lot_id = estimates.lot_id
left join sell_through_odds as odds on odds.lot_id = estimates.lot_id
