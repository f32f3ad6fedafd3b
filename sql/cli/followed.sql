-- The lots of the cars that are followed, as one snapshot has them, each with the result of its last auction that has one. Of a
-- car, $followed has its place in the list and its VIN, the number of a lot with or without the source, or the id of its vehicle.
with followed as (
    select unnest(
        from_json($followed, '[{"place":"BIGINT","vin":"VARCHAR","lot":"VARCHAR","domain_id":"BIGINT","vehicle_id":"BIGINT"}]'),
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
    union
    select place, vehicle_id from followed where vehicle_id is not null
),
offers as materialized (
    select
        place,
        vehicle_id,
        lots.lot_id,
        lots.lot,
        lots.domain_id,
        lots.domain_name,
        lots.external_id,
        lots.archived,
        lots.sale_date,
        lots.bid,
        lots.buy_now
    from cars
    left join lots using (vehicle_id)
),
results as (
    select lot_id, max_by({'outcome': outcome, 'amount': amount, 'sale_date': sale_date}, attempt) as last_one
    from sales
    where outcome in ('sold', 'not_sold', 'on_approval') and lot_id in (select lot_id from offers)
    group by lot_id
)
select
    place,
    vehicle_id,
    vehicles.vin,
    concat_ws(' ', vehicles.year, vehicles.manufacturer_name, vehicles.model_name) as name,
    offers.lot_id,
    trim(offers.lot) as lot,
    offers.domain_id,
    offers.domain_name,
    page_of_lot(offers.domain_id, trim(offers.lot), offers.external_id) as link,
    offers.archived,
    offers.sale_date,
    offers.bid,
    offers.buy_now,
    lot_groups.currency,
    results.last_one.outcome,
    results.last_one.amount,
    results.last_one.sale_date as sold_at
from offers
join vehicles using (vehicle_id)
left join lot_groups on lot_groups.lot_id = offers.lot_id
left join results on results.lot_id = offers.lot_id
order by place, vehicle_id, offers.lot_id
