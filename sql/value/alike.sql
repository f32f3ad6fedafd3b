-- The priced lots of a model that are near a car in all: at most two model years and 50,000 km apart, of its damage and title,
-- and at most twice or half its estimate by their own; at most ten, the nearest by year and distance first. What is not known
-- of the car does not count. Other lots of the same car are left out. A doubted price is no evidence: those that are as near
-- come beside the ten, marked. $priced_lots is a query such as value/priced_lots.
with near as (
    select *, coalesce(abs(year - $year) / 2, 0) + coalesce(abs(odometer_km - $km) / 50000, 0) as distance
    from query($priced_lots)
    where market = $market and currency = $currency
        and manufacturer_id = $make and model_id = $model and lot_id is distinct from $lot_id
        and ($vehicle is null or vehicle_id is distinct from $vehicle)
        and ($year is null or year between $year - 2 and $year + 2)
        and ($km is null or odometer_km between $km - 50000 and $km + 50000)
        and ($damage is null or damage_main_group = $damage)
        and ($title is null or title_brand = $title)
        and ($estimate is null or estimate between $estimate / 2 and $estimate * 2)
),
kinds as (
    (select * from near where doubt is null order by distance, priced_at desc, lot_id limit 10)
    union all
    (select * from near where doubt is not null order by distance, priced_at desc, lot_id limit 3)
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
    case when p.doubt is null then round(p.price * $estimate / nullif(p.estimate, 0)) end as adjusted_price,
    p.doubt,
    cast(cast(p.priced_at as date) as varchar) as sold_on,
    l.domain_name as source,
    l.lot,
    page_of_lot(l.domain_id, l.lot, l.external_id) as link
from nearest as p
inner join lots as l using (lot_id)
order by p.place
