with came as (
    -- a list that lost a row shows of no other row that it is gone
    select
        _vehicle_id,
        coalesce(_rejected, []) as lost,
        lots is not null and not list_contains(lost, 'lots') as has_lots,
        listings is not null and not list_contains(lost, 'listings') as has_listings,
        inspections is not null and not list_contains(lost, 'inspections') as has_inspections,
        vehicle_history_reports is not null and not list_contains(lost, 'vehicle_history_reports') as has_histories,
        inspections as inspected,
        vehicle_history_reports as histories,
        list_filter(inspections, lambda report : report.checked_items is null) = []
            and not list_contains(lost, 'checked_items') as has_items,
        list_filter(histories, lambda report : report.events is null) = [] and not list_contains(lost, 'events') as has_events,
        _seq
    from records
)
select
    _vehicle_id as vehicle_id,
    has_lots as lots,
    has_listings as listings,
    has_inspections as inspections,
    has_histories as vehicle_history_reports,
    has_inspections
        and list_filter(inspected, lambda report : report.participants is null) = []
        and not list_contains(lost, 'participants') as participants,
    has_inspections
        and list_filter(inspected, lambda report : report.source_claims is null) = []
        and not list_contains(lost, 'source_claims') as source_claims,
    has_inspections
        and list_filter(inspected, lambda report : report.inspection_blocks is null) = []
        and not list_contains(lost, 'inspection_blocks') as inspection_blocks,
    has_inspections and has_items as checked_items,
    has_inspections
        and has_items
        and list_filter(
            inspected,
            lambda report : list_filter(report.checked_items, lambda item : item.measurements is null) <> []
        ) = []
        and not list_contains(lost, 'measurements') as measurements,
    has_inspections
        and list_filter(inspected, lambda report : report.diagnostic_errors is null) = []
        and not list_contains(lost, 'diagnostic_errors') as diagnostic_errors,
    has_histories
        and list_filter(histories, lambda report : report.checks is null) = []
        and not list_contains(lost, 'checks') as checks,
    has_histories and has_events as events,
    has_histories
        and has_events
        and list_filter(
            histories,
            lambda report : list_filter(report.events, lambda event : event.details is null) <> []
        ) = []
        and not list_contains(lost, 'details') as details,
    has_inspections
        and has_histories
        and list_filter(inspected, lambda report : report.media is null or report.files is null) = []
        and list_filter(histories, lambda report : report.media is null or report.files is null) = []
        and not list_has_any(lost, ['media', 'files']) as media,
    has_inspections
        and has_histories
        and list_filter(inspected, lambda report : report.limitations is null) = []
        and list_filter(histories, lambda report : report.limitations is null) = []
        and not list_contains(lost, 'limitations') as limitations,
    _seq
from came
