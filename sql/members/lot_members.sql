-- A list that lost a row shows of no other row that it is gone.
select
    _lot_id as lot_id,
    _vehicle_id as vehicle_id,
    prices is not null and not coalesce(list_contains(_rejected, 'prices'), false) as prices,
    images is not null as images,
    _seq
from "lots[]"
