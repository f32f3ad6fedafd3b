-- The events of a vehicle, in their order.
select
    coalesce(occurred_local, strftime(occurred_at, '%Y-%m-%dT%H:%M:%SZ'), 'undated') as occurred,
    event,
    domain_id,
    lot,
    amount,
    currency,
    odometer_km,
    case when odometer_rollback then 'yes' end as rolled_back,
    description
from vehicle_timeline
where vehicle_id = $vehicle_id
order by place
