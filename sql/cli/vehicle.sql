-- A vehicle with the number of its reports that the service still has.
select
    vehicle_id,
    vin,
    title,
    year,
    manufacturer_name,
    model_name,
    generation_name,
    body_type_name,
    color_name,
    engine_name,
    transmission_name,
    drive_wheel_name,
    fuel_name,
    (select count(*) from inspections where vehicle_id = $vehicle_id and gone_at is null) as inspections,
    (select count(*) from history_reports where vehicle_id = $vehicle_id and gone_at is null) as history_reports,
    archived,
    strftime(archived_at, '%Y-%m-%dT%H:%M:%SZ') as archived_at
from vehicles
where vehicle_id = $vehicle_id
