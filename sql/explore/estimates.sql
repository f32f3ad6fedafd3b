-- The estimates of the lots of a vehicle: those that can be bought first, in the order of their auctions, then the newest.
select e.lot_id, e.vehicle_id, l.domain_name, l.lot, page_of_lot(l.domain_id, trim(l.lot), l.external_id) as link,
    o.lot_id is not null as is_open, cast(cast(e.priced_at as date) as varchar) as priced_on, e.market, e.estimate, e.low_80,
    e.high_80, e.currency, case when e.market = 'asking' or not e.is_offered then e.price else e.buy_now end as price,
    case when e.is_currency_known then e.currency end as price_currency
from price_estimates as e
inner join lots as l on l.lot_id = e.lot_id and l.vehicle_id = $vehicle_id
left join explore.lots_on_offer as o on o.lot_id = e.lot_id and o.vehicle_id = $vehicle_id
where e.vehicle_id = $vehicle_id
order by is_open desc, o.sale_date nulls last, case when not is_open then e.priced_at end desc nulls last, e.lot_id
limit 20
