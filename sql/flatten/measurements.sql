select
    _domain_id as domain_id,
    _listing_id as listing_id,
    _report_id as report_id,
    _checked_item_position as checked_item_position,
    _position as position,
    _vehicle_id as vehicle_id,
    id as measurement_id,
    type_key,
    value_number,
    value_text,
    unit_key,
    result_key,
    description,
    _month as _month_at,
    _extra as extra,
    _rejected as rejected,
    _seq
from "inspections[].checked_items[].measurements[]"
