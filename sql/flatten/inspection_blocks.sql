select
    _domain_id as domain_id,
    _listing_id as listing_id,
    _report_id as report_id,
    _position as position,
    _vehicle_id as vehicle_id,
    id as block_id,
    key,
    result_key,
    sort_order,
    source_code,
    source_label,
    description,
    _month as _month_at,
    _extra as extra,
    _rejected as rejected,
    _seq
from "inspections[].inspection_blocks[]"
