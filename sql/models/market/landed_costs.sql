select
    cast(landed.lot as bigint) as lot_id,
    destinations.destination,
    destinations.is_default,
    destinations.currency,
    car_costs.lot_currency,
    landed.cost,
    landed.cost_estimate,
    landed.cost_low_80,
    landed.cost_high_80,
    landed.cost_buy_now,
    landed.price,
    landed.fees,
    case when landed.price is not null then car_costs.charges end as charges,
    case when landed.price is not null then ways.inland end as inland,
    case when landed.price is not null then ways.ocean end as ocean,
    landed.taxes,
    case when car_costs.fees_currency is not null then landed.fees_own end as fees_own,
    car_costs.fees_currency,
    case when car_costs.charges_currency is not null then car_costs.charges_own end as charges_own,
    car_costs.charges_currency,
    case when ways.inland_currency is not null then ways.inland_own end as inland_own,
    ways.inland_currency,
    case when ways.ocean_currency is not null then ways.ocean_own end as ocean_own,
    ways.ocean_currency,
    case when car_costs.taxes_currency is not null then landed.taxes_own end as taxes_own,
    car_costs.taxes_currency,
    ways.port,
    row_lists.cost_rows,
    limits.target,
    limits.target_row,
    landed.most_to_bid,
    missing.text as missing,
    coalesce(bid_missing.text, limits.bid_missing) as bid_missing
from costs.landed
inner join costs.destinations on destinations.number = landed.destination
inner join costs.car_costs on car_costs.destination = landed.destination and car_costs.number = landed.car
inner join costs.ways on ways.destination = landed.destination and ways.number = landed.way
inner join costs.limits on limits.destination = landed.destination and limits.number = landed.kind
left join costs.row_lists as row_lists on row_lists.number = landed.cost_rows
left join costs.texts as missing on missing.number = landed.missing
left join costs.texts as bid_missing on bid_missing.number = landed.bid_missing
