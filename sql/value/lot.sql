-- A lot with its estimate. Each table is filtered by a constant, so that little of it is read.
select
    concat_ws(
        ', ',
        concat_ws(' ', p.year, manufacturer_names.manufacturer_name, model_names.model_name),
        format('{:,} km', cast(round(p.odometer_km) as bigint)),
        replace(nullif(p.damage_main_group, 'unknown'), '_', ' '),
        replace(nullif(p.title_brand, 'unknown'), '_', ' '),
        'lot ' || l.lot || ' of ' || l.domain_name
    ) as of,
    e.currency,
    e.estimate,
    e.is_offered,
    e.is_currency_known,
    cast(e.priced_at as varchar) as priced_at,
    nullif(concat_ws(
        '; ',
        case
            when e.reason is not null then 'no estimate: ' || replace(e.reason, '_', ' ')
            when d.reason is not null then 'its price is doubted: ' || replace(d.reason, '_', ' ')
            when e.is_unreliable then 'unreliable: such estimates were far off in the back-test'
            when not e.is_currency_known then 'what it would bring in this currency; that of the lot is not known'
            when e.market = 'asking' then 'an asking price, not a sale'
        end,
        case
            when e.reason is null and e.comparable_prices <= if(e.price is null, 0, 1)
            then 'no price of a like car (the model, two model years apart at most) is known, so that the estimate leans on others of the make'
        end,
        case e.interval_reason
            when 'few_prices_in_band' then 'no interval: the class ' || e.estimate_band || ' has fewer than 20 prices'
        end,
        case e.year_origin
            when 'vin' then 'model year ' || p.year || ' by the VIN' || coalesce('; the feed says ' || v.year, '')
            when 'doubted' then 'the model year ' || v.year || ' of the feed is doubted and not used'
        end
    ), '') as note,
    e.low_80,
    e.low_50,
    e.high_50,
    e.high_80,
    e.interval_reason,
    e.price,
    e.buy_now,
    e.buy_now_share,
    p.odometer,
    e.year_origin,
    e.place_factor,
    e.seller_factor,
    list_filter([
        {'factor': driver_1, 'amount': driver_1_amount},
        {'factor': driver_2, 'amount': driver_2_amount},
        {'factor': driver_3, 'amount': driver_3_amount},
        {'factor': driver_4, 'amount': driver_4_amount},
        {'factor': driver_5, 'amount': driver_5_amount}
    ], lambda driver: driver.factor is not null) as drivers,
    {
        'market': e.market, 'currency': e.currency, 'make': p.manufacturer_id, 'model': p.model_id, 'year': p.year,
        'km': p.odometer_km, 'damage': p.damage_main_group, 'title': p.title_brand, 'lot_id': e.lot_id,
        'domain': e.domain_id, 'vehicle': e.vehicle_id
    } as kind
from price_estimates as e
inner join price_inputs as p on p.lot_id = e.lot_id and p.lot_id = $lot
inner join lots as l on l.lot_id = e.lot_id and l.lot_id = $lot
left join price_doubts as d on d.lot_id = e.lot_id and d.lot_id = $lot
left join vehicles as v on v.vehicle_id = l.vehicle_id and v.vehicle_id = $vehicle_id
left join dim_manufacturers as manufacturer_names on manufacturer_names.manufacturer_id = p.manufacturer_id
left join dim_models as model_names on model_names.model_id = p.model_id
where e.lot_id = $lot
