select
    _domain_id as domain_id,
    _listing_id as listing_id,
    _report_id as report_id,
    _event_position as event_position,
    _position as position,
    _vehicle_id as vehicle_id,
    key,
    value_text,
    value_number,
    date_instant(value_date) as value_date,
    date_local(value_date) as value_date_local,
    date_offset(value_date) as value_date_offset,
    unit_key,
    source_code,
    source_label,
    _month as _month_at,
    _extra as extra
from "vehicle_history_reports[].events[].details[]"
