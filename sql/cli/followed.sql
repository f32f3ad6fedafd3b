-- The lots of the cars that are followed, as one snapshot has them, each with the result of its last auction that has one. Of a
-- car, $followed has its place in the list and its VIN, or the number of a lot with or without the source.
with followed as (
    select unnest(
        from_json($followed, '[{"place":"BIGINT","vin":"VARCHAR","lot":"VARCHAR","domain_id":"BIGINT"}]'),
        recursive := true
    )
),
cars as (
    select place, vin_facts.vehicle_id from followed join vin_facts using (vin)
    union
    select place, lots.vehicle_id
    from followed
    join lots
        on upper(trim(lots.lot)) = followed.lot
        and (followed.domain_id is null or lots.domain_id = followed.domain_id)
    where lots.vehicle_id is not null
),
results as (
    select lot_id, outcome, amount
    from sales
    where outcome in ('sold', 'not_sold', 'on_approval')
    qualify row_number() over (partition by lot_id order by attempt desc) = 1
)
select
    place,
    vehicle_id,
    vehicles.vin,
    concat_ws(' ', vehicles.year, vehicles.manufacturer_name, vehicles.model_name) as name,
    lots.lot_id,
    trim(lots.lot) as lot,
    lots.domain_id,
    lots.domain_name,
    page_of_lot(lots.domain_id, trim(lots.lot), lots.external_id) as link,
    lots.archived,
    lots.sale_date,
    lots.bid,
    lots.buy_now,
    lot_groups.currency,
    results.outcome,
    results.amount
from cars
join vehicles using (vehicle_id)
left join lots using (vehicle_id)
left join lot_groups on lot_groups.lot_id = lots.lot_id
left join results on results.lot_id = lots.lot_id
order by place, vehicle_id, lots.lot_id
