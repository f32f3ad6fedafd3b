-- The events of a vehicle, in their order.
from vehicle_timeline where vehicle_id = $vehicle_id order by place
