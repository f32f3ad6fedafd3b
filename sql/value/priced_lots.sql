-- The lots with a price, with what makes them alike, their own estimates and the doubts of their prices.
select
    p.lot_id, p.vehicle_id, p.market, p.currency, p.manufacturer_id, p.model_id, p.year, p.odometer_km, p.damage_main_group,
    p.title_brand, p.price, p.priced_at, e.estimate, d.reason as doubt
from price_inputs as p
inner join price_estimates as e on e.lot_id = p.lot_id
left join price_doubts as d on d.lot_id = p.lot_id
where p.price is not null
