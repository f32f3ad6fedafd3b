select lot_id, cast(odometer_km as double) as odometer_km
from lots
where odometer_km > 0
    -- leave out hours, readings known to be wrong, and kilometres that may be miles
    and coalesce(odometer_status_id, 1) in (1, 3)
    and not coalesce(odometer_out_of_range, false)
    and not coalesce(odometer_unit_uncertain, false)
