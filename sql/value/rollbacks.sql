-- Odometer readings of a vehicle that are below what it had on the clock before.
select
    coalesce(left(occurred_local, 10), cast(cast(occurred_at as date) as varchar)) as read_on,
    odometer_km as km,
    odometer_highest_km as highest_km,
    event
from vehicle_timeline
where vehicle_id = $vehicle and odometer_rollback
order by place
