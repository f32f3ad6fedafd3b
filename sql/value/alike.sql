-- The priced lots of a model that are most like a car: by year, distance, damage and title. Without a value of the car no
-- lot is more like it than another. A doubted price is no evidence.
select
    p.year,
    p.odometer_km as km,
    p.damage_main_group as damage,
    p.title_brand as title,
    p.price,
    cast(cast(p.priced_at as date) as varchar) as sold_on,
    l.domain_name as source,
    l.lot,
    case l.domain_id
        when 1 then 'https://www.iaai.com/VehicleDetail/' || l.external_id
        when 3 then 'https://www.copart.com/lot/' || l.lot
        when 12 then 'https://fem.encar.com/cars/detail/' || l.lot
    end as link
from price_inputs as p
inner join lots as l using (lot_id)
anti join price_doubts using (lot_id)
where p.market = $market and p.currency = $currency and p.price is not null
    and p.manufacturer_id = $make and p.model_id = $model and p.lot_id is distinct from $lot_id
order by
    coalesce(abs(p.year - $year) / 2.0, 1) + coalesce(abs(p.odometer_km - $km) / 50000, 0.5)
    + case when p.damage_main_group = coalesce($damage, p.damage_main_group) then 0 else 2 end
    + case when p.title_brand = coalesce($title, p.title_brand) then 0 else 2 end,
    p.priced_at desc,
    p.lot_id
limit 10
