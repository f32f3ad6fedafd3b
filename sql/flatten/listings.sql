select
    _vehicle_id as vehicle_id,
    _position as position,
    has_history_reports,
    is_manufacturer_certified,
    _extra as extra,
    _rejected as rejected,
    _seq
from "listings[]"
