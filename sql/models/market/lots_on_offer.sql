with set_back as (
    select distinct vehicle_id from odometer_rollbacks
),
judged as (
    select
        price_estimates.*,
        set_back.vehicle_id is not null as is_set_back,
        -- far below the estimate it may stand for another price, such as the least bid
        case when if(market = 'asking', price, buy_now) > 0.3 * estimate then if(market = 'asking', price, buy_now) end as asked,
        if(market = 'asking', 'asking price', 'Buy Now') as asks,
        case
            when estimate is null then null
            when not is_currency_known then 'the currency of the lot is not known'
            when set_back.vehicle_id is not null then 'an odometer reading of the car is below an earlier one'
            when interval_reason is not null then 'too few prices of this class for an interval'
            when is_unreliable then 'such estimates are often far off'
            when comparable_prices = 0 then 'no price of a like car is known'
        end as weak
    from price_estimates
    left join set_back on set_back.vehicle_id = price_estimates.vehicle_id
    where is_offered
),
landed as (
    select * from landed_costs where is_default
),
-- the first picture alone, before the join: the lists of all would need 2 GB
pictures as (
    select lot_id, coalesce(first_text(small), first_text(normal)) as picture from lot_images
)
select
    estimates.lot_id,
    lots.vehicle_id,
    vehicles.vin,
    lots.domain_id,
    lots.domain_name,
    trim(lots.lot) as lot,
    page_of_lot(lots.domain_id, trim(lots.lot), lots.external_id) as link,
    lots.status_name,
    offered.attempt,
    facts.year,
    facts.year_origin,
    vins.reason as vin_reason,
    facts.manufacturer_id,
    manufacturer_names.manufacturer_name,
    facts.model_id,
    model_names.model_name,
    readings.odometer_km,
    estimates.is_set_back as odometer_rollback,
    groups.damage_main_group,
    lots.damage_main_name,
    groups.damage_second_group,
    groups.title_brand,
    lots.title_name,
    case findings.inspection_finding when 2 then 'accident' when 1 then 'no accident' end as inspection,
    groups.country_code,
    nullif(groups.state_code, 'unknown') as state_code,
    lots.location_city_name as city_name,
    lots.selling_branch_name as branch_name,
    lots.seller_name,
    groups.seller_group,
    estimates.market,
    offered.sale_date,
    -- an estimate in another currency than the amounts of the lot would be taken for one of theirs
    case when estimates.is_currency_known then estimates.currency end as currency,
    nullif(lots.bid, 0) as bid,
    case when estimates.market = 'asking' then estimates.price else plausible_price(lots.buy_now) end as buy_now,
    case when estimates.is_currency_known then estimates.estimate end as estimate,
    case when estimates.is_currency_known then estimates.low_80 end as low_80,
    case when estimates.is_currency_known then estimates.low_50 end as low_50,
    case when estimates.is_currency_known then estimates.high_50 end as high_50,
    case when estimates.is_currency_known then estimates.high_80 end as high_80,
    case when estimates.is_currency_known then estimates.comparable_prices end as comparable_prices,
    -- only an estimate that is shown can be weak
    case when estimates.is_currency_known then estimates.weak end as weak,
    -- a bid above it takes the Buy Now price away
    case
        when estimates.weak is null and asked > coalesce(lots.bid, 0) then 1 - estimates.prices_below
    end as prices_above,
    case
        when estimates.weak is not null then null
        when asked > coalesce(lots.bid, 0) and estimates.prices_below < 0.1 then asks || ' below 9 in 10 of such prices'
        when asked > coalesce(lots.bid, 0) and estimates.prices_below < 0.25 then asks || ' below 3 in 4 of such prices'
        when lots.bid > estimates.high_80 then 'bid above 9 in 10 of such prices'
        when lots.bid > estimates.high_50 then 'bid above 3 in 4 of such prices'
    end as stands_out,
    -- an interval of more than half of all chances says nothing
    case
        when offered.sell_probability_high - offered.sell_probability_low <= 0.5 then offered.sell_probability
    end as sell_probability,
    pictures.picture,
    landed.destination as cost_destination,
    landed.currency as cost_currency,
    landed.cost,
    landed.cost_estimate,
    landed.cost_low_80,
    landed.cost_high_80,
    landed.cost_buy_now,
    landed.most_to_bid,
    landed.most_to_bid - coalesce(lots.bid, 0) as room_to_bid,
    landed.missing as cost_missing
from judged as estimates
inner join offered_lots as offered on offered.lot_id = estimates.lot_id
inner join lots on lots.lot_id = estimates.lot_id
inner join lot_groups as groups on groups.lot_id = estimates.lot_id
left join vehicles on vehicles.vehicle_id = lots.vehicle_id
left join vehicle_facts as facts on facts.vehicle_id = lots.vehicle_id
left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = facts.manufacturer_id
left join dim_models as model_names on model_names.model_id = facts.model_id
left join odometer_readings as readings on readings.lot_id = estimates.lot_id
left join vin_facts as vins on vins.vehicle_id = lots.vehicle_id
left join lot_findings as findings on findings.lot_id = estimates.lot_id
left join pictures on pictures.lot_id = estimates.lot_id
left join landed on landed.lot_id = estimates.lot_id
