with report_entries as (
    select
        case
            when trim(type_key) in (
                'initial_registration', 'owner_change', 'registration_change', 'insurance_claim',
                'insurance_coverage_started', 'insurance_coverage_gap', 'maintenance', 'statutory_inspection', 'recall',
                'comparative_quote', 'total_loss', 'flood_damage', 'theft', 'usage_change'
            )
            then trim(type_key)
            else 'history_event'
        end as event,
        0 as step,
        'events' as evidence_table,
        domain_id,
        listing_id,
        report_id,
        position,
        gone_at,
        plausible_event_date(occurred_at, last_day) as occurred_at,
        case when plausible_event_date(occurred_at, last_day) is not null then occurred_at_local end as occurred_local,
        amount_total as amount,
        nullif(upper(trim(currency)), '') as currency,
        mileage_km as odometer_km,
        coalesce(nullif(trim(type_key), ''), 'unknown')
            || coalesce(', ' || nullif(trim(subtype_key), ''), '')
            || coalesce(', ' || nullif(trim(status_key), ''), '') as description
    from events
    cross join dim_settings
    union all
    select
        'check_present',
        3,
        'checks',
        domain_id,
        listing_id,
        report_id,
        position,
        gone_at,
        null,
        null,
        null,
        null,
        null,
        coalesce(nullif(trim(type_key), ''), 'unknown')
    from checks
    where trim(result_key) = 'present'
)
-- an entry that its report no longer lists was a mistake
select
    event,
    step,
    evidence_table,
    reports.vehicle_id,
    reports.domain_id,
    reports.listing_id,
    reports.report_id,
    report_entries.position,
    case
        when step = 3 then coalesce(plausible_date(reports.checked_at, last_day), plausible_date(reports.created_at, last_day))
        else occurred_at
    end as occurred_at,
    case
        when step < 3 then occurred_local
        when plausible_date(reports.checked_at, last_day) is not null then reports.checked_at_local
        when plausible_date(reports.created_at, last_day) is not null then reports.created_at_local
    end as occurred_local,
    -- an odometer reading needs a day
    case when length(occurred_local) >= 10 then occurred_at end as read_at,
    amount,
    report_entries.currency,
    odometer_km,
    description
from report_entries
inner join history_reports as reports
    on reports.report_id = report_entries.report_id
    and reports.listing_id is not distinct from report_entries.listing_id
    and reports.domain_id is not distinct from report_entries.domain_id
    and reports.gone_at is not distinct from report_entries.gone_at
cross join dim_settings
where reports.vehicle_id is not null
