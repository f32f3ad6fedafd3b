-- The priced lots of a model that are most like a car: by year, distance, damage and title. Without a value of the car no
-- lot is more like it than another. Other lots of the same car are left out. A doubted price is no evidence: those that are as
-- near come beside the ten, marked.
with priced as (
    select
        p.*,
        d.reason as doubt,
        coalesce(abs(p.year - $year) / 2.0, 1) + coalesce(abs(p.odometer_km - $km) / 50000, 0.5)
        + case when p.damage_main_group = coalesce($damage, p.damage_main_group) then 0 else 2 end
        + case when p.title_brand = coalesce($title, p.title_brand) then 0 else 2 end as distance
    from price_inputs as p
    left join price_doubts as d using (lot_id)
    where p.market = $market and p.currency = $currency and p.price is not null
        and p.manufacturer_id = $make and p.model_id = $model and p.lot_id is distinct from $lot_id
        and ($vehicle is null or p.vehicle_id is distinct from $vehicle)
),
kinds as (
    (select * from priced where doubt is null order by distance, priced_at desc, lot_id limit 10)
    union all
    (select * from priced where doubt is not null order by distance, priced_at desc, lot_id limit 3)
),
nearest as (
    select
        *,
        row_number() over (order by distance, priced_at desc, lot_id) as place,
        count(*) filter (where doubt is null) over (order by distance, priced_at desc, lot_id rows unbounded preceding) as trusted
    from kinds
    qualify doubt is null or trusted < 10
)
select
    p.year,
    p.odometer_km as km,
    p.damage_main_group as damage,
    p.title_brand as title,
    p.price,
    -- what this price says of the car: the estimates tell how much more or less the car is worth
    case when p.doubt is null then round(p.price * $estimate / e.estimate) end as adjusted_price,
    p.doubt,
    cast(cast(p.priced_at as date) as varchar) as sold_on,
    l.domain_name as source,
    l.lot,
    page_of_lot(l.domain_id, l.lot, l.external_id) as link
from nearest as p
inner join lots as l using (lot_id)
left join price_estimates as e on e.lot_id = p.lot_id and e.estimate > 0
order by p.place
