select
    id as model_id,
    manufacturer_id,
    name,
    vehicle_type.id as vehicle_type_id,
    vehicle_type.name as vehicle_type_name,
    cars_qty,
    generations_qty,
    _extra as extra,
    _rejected as rejected,
    _seq
from records
