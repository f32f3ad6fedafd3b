-- The inspections of a vehicle that the service still has, the newest first, with what they conclude.
select
    listing_id, report_id, inspected_at, conclusions_overall_result_key as result, conclusions_accident_status_key as accident,
    conclusions_water_damage_status_key as water, conclusions_fire_damage_status_key as fire, conclusions_notes as notes,
    vehicle_snapshot_mileage_km as km
from inspections
where vehicle_id = $vehicle_id and gone_at is null
order by inspected_at desc nulls last, report_id
