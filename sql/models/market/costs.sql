-- The lots on offer as the tables of costs ask for them, with the prices at which costs are computed. market_prices.sql reads price_doubts, too.
select
    offered_lots.lot_id,
    inputs.domain_id,
    case when inputs.is_currency_known then inputs.currency end as currency,
    nullif(lower(trim(lots.selling_branch_name)), '') as branch,
    nullif(lower(trim(lots.location_postal_code)), '') as postal,
    nullif(replace(inputs.state, inputs.country || ' ', ''), 'unknown') as state,
    inputs.title_brand as title,
    nullif(lower(trim(vehicles.vehicle_type_name)), '') as vehicle_type,
    nullif(lower(inputs.body_type), 'unknown') as body_type,
    inputs.fuel,
    engine_cm3(inputs.engine) as cm3,
    inputs.year,
    inputs.manufacturer_id,
    inputs.model_id,
    -- what a listing asks; at an auction the estimate, or the bid above it, or Buy Now where that is lower and no bid has passed it
    case
        when inputs.market = 'asking' then inputs.price
        else least(
            case when plausible_price(lots.buy_now) > coalesce(lots.bid, 0) then plausible_price(lots.buy_now) end,
            greatest(case when inputs.is_currency_known then estimates.estimate end, nullif(lots.bid, 0))
        )
    end as likely,
    case when inputs.is_currency_known then estimates.estimate end as estimate,
    case when inputs.is_currency_known then estimates.low_80 end as low_80,
    case when inputs.is_currency_known then estimates.high_80 end as high_80,
    case when inputs.market = 'asking' then inputs.price else plausible_price(lots.buy_now) end as buy_now
from offered_lots
inner join price_inputs as inputs on inputs.lot_id = offered_lots.lot_id
inner join price_estimates as estimates on estimates.lot_id = offered_lots.lot_id
inner join lots on lots.lot_id = offered_lots.lot_id
left join vehicles on vehicles.vehicle_id = inputs.vehicle_id
