-- Each list names its members: one that the contract does not know there belongs to `extra`, even if another list has it.
with entries as (
    select 'inspection' as report_type, 'media' as media_type, block_id, checked_item_id,
        id, type_key, external_url, local_path, server_id, description, sort_order,
        _domain_id, _listing_id, _report_id, _position, _vehicle_id, _month, _extra, _rejected, _seq
    from "inspections[].media[]"
    union all by name
    select 'inspection' as report_type, 'file' as media_type, block_id, checked_item_id, original_name, extension,
        id, type_key, external_url, local_path, server_id, description, sort_order,
        _domain_id, _listing_id, _report_id, _position, _vehicle_id, _month, _extra, _rejected, _seq
    from "inspections[].files[]"
    union all by name
    select 'history' as report_type, 'media' as media_type, original_name,
        id, type_key, external_url, local_path, server_id, description, sort_order,
        _domain_id, _listing_id, _report_id, _position, _vehicle_id, _month, _extra, _rejected, _seq
    from "vehicle_history_reports[].media[]"
    union all by name
    select 'history' as report_type, 'file' as media_type, original_name,
        id, type_key, external_url, local_path, server_id, description, sort_order,
        _domain_id, _listing_id, _report_id, _position, _vehicle_id, _month, _extra, _rejected, _seq
    from "vehicle_history_reports[].files[]"
)
select
    report_type,
    media_type,
    _domain_id as domain_id,
    _listing_id as listing_id,
    _report_id as report_id,
    _position as position,
    _vehicle_id as vehicle_id,
    id as media_id,
    type_key,
    external_url,
    local_path,
    server_id,
    description,
    sort_order,
    block_id,
    checked_item_id,
    original_name,
    extension,
    _month as _month_at,
    _extra as extra,
    _rejected as rejected,
    _seq
from entries
