select
    _lot_id as lot_id,
    _vehicle_id as vehicle_id,
    prices is not null as prices,
    images is not null as images,
    _seq
from "lots[]"
