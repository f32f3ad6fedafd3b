with limitations as (
    select 'inspection' as _report_type, * from "inspections[].limitations[]"
    union all by name
    select 'history' as _report_type, * from "vehicle_history_reports[].limitations[]"
)
select
    _report_type as report_type,
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
from limitations
