select
    _domain_id as domain_id,
    _listing_id as listing_id,
    _report_id as report_id,
    _position as position,
    _vehicle_id as vehicle_id,
    id as check_id,
    type_key,
    result_key,
    count,
    source_code,
    source_label,
    description,
    evidence_type_key,
    verification_key,
    _month as _month_at,
    _extra as extra
from "vehicle_history_reports[].checks[]"
