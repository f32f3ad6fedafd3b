select
    id as manufacturer_id,
    name,
    cars,
    motorcycles,
    cars_qty,
    models_qty,
    image,
    _extra as extra,
    _rejected as rejected,
    _seq
from records
