select
    id as generation_id,
    model_id,
    manufacturer_id,
    name,
    from_year,
    to_year,
    cars_qty,
    _extra as extra,
    _rejected as rejected,
    _seq
from records
