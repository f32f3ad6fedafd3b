-- description: Every row that a report lists belongs to a known report of the same listing.
-- severity: error
with reports as (
    select 'inspection' as report_type, domain_id, listing_id, report_id from inspections
    union all
    select 'history' as report_type, domain_id, listing_id, report_id from history_reports
),
children as (
    select 'checked_items' as child, 'inspection' as report_type, domain_id, listing_id, report_id from checked_items
    union all
    select 'diagnostic_errors' as child, 'inspection' as report_type, domain_id, listing_id, report_id from diagnostic_errors
    union all
    select 'inspection_blocks' as child, 'inspection' as report_type, domain_id, listing_id, report_id from inspection_blocks
    union all
    select 'inspection_claims' as child, 'inspection' as report_type, domain_id, listing_id, report_id from inspection_claims
    union all
    select 'inspection_participants' as child, 'inspection' as report_type, domain_id, listing_id, report_id from inspection_participants
    union all
    select 'measurements' as child, 'inspection' as report_type, domain_id, listing_id, report_id from measurements
    union all
    select 'checks' as child, 'history' as report_type, domain_id, listing_id, report_id from checks
    union all
    select 'event_details' as child, 'history' as report_type, domain_id, listing_id, report_id from event_details
    union all
    select 'events' as child, 'history' as report_type, domain_id, listing_id, report_id from events
    union all
    select 'report_limitations' as child, report_type, domain_id, listing_id, report_id from report_limitations
    union all
    select 'report_media' as child, report_type, domain_id, listing_id, report_id from report_media
),
final as (
    select
        children.child,
        children.report_type,
        children.domain_id,
        children.listing_id,
        children.report_id
    from children
    left join reports
        on reports.report_type = children.report_type
        and reports.report_id = children.report_id
        and reports.listing_id is not distinct from children.listing_id
        and reports.domain_id is not distinct from children.domain_id
    where children.report_id is not null and reports.report_id is null
)
select * from final
