select
    'inspection' as report_type,
    _domain_id as domain_id,
    _listing_id as listing_id,
    _report_id as report_id,
    _position as position,
    _vehicle_id as vehicle_id,
    id as limitation_id,
    type_key,
    source_label,
    description,
    _month as _month_at,
    _extra as extra,
    _rejected as rejected,
    _seq
from "inspections[].limitations[]"
union all
select
    'history' as report_type,
    _domain_id as domain_id,
    _listing_id as listing_id,
    _report_id as report_id,
    _position as position,
    _vehicle_id as vehicle_id,
    id as limitation_id,
    type_key,
    source_label,
    description,
    _month as _month_at,
    _extra as extra,
    _rejected as rejected,
    _seq
from "vehicle_history_reports[].limitations[]"
