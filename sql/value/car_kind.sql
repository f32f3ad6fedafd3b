-- What most cars of a make, model and year are, for the costs of a car that is no lot.
select
    mode(nullif(lower(trim(vehicle_type_name)), '')) as vehicle_type,
    mode(nullif(lower(inputs.body_type), 'unknown')) as body_type,
    mode(inputs.fuel) as fuel,
    mode(engine_cm3(inputs.engine)) as cm3
from price_inputs as inputs
left join vehicles using (vehicle_id)
where inputs.manufacturer_id = $make and inputs.model_id = $model and inputs.year = $year
