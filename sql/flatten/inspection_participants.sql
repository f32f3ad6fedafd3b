select
    _domain_id as domain_id,
    _listing_id as listing_id,
    _report_id as report_id,
    _position as position,
    _vehicle_id as vehicle_id,
    role_key,
    name,
    company_id,
    user_id,
    source_label,
    _month as _month_at,
    _extra as extra,
    _rejected as rejected,
    _seq
from "inspections[].participants[]"
