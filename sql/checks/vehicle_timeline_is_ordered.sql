-- description: The events of a vehicle are numbered from 1 by their dates, and their lots belong to the vehicle.
-- severity: error
with archive_lots as (
    select lot_id, max(vehicle_id) as vehicle_id from archived_lots group by lot_id
),
steps as (
    select
        vehicle_id,
        place,
        lot_id,
        occurred_at,
        lag(place) over events as place_before,
        lag(occurred_at) over events as occurred_before
    from vehicle_timeline
    window events as (partition by vehicle_id order by place nulls last)
),
final as (
    select
        steps.vehicle_id,
        steps.place,
        steps.lot_id,
        coalesce(lots.vehicle_id, archive_lots.vehicle_id) as vehicle_of_lot,
        steps.occurred_before,
        steps.occurred_at
    from steps
    left join lots on lots.lot_id = steps.lot_id
    left join archive_lots on archive_lots.lot_id = steps.lot_id
    where steps.place <> coalesce(steps.place_before, 0) + 1
        or steps.occurred_at < steps.occurred_before
        or (steps.occurred_at is not null and steps.occurred_before is null and steps.place > 1)
        or (steps.lot_id is not null and coalesce(lots.vehicle_id, archive_lots.vehicle_id) is distinct from steps.vehicle_id)
)
select * from final
