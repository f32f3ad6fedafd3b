with report_events as (
    -- Reports stay that are no longer delivered: most go because their listing ends.
    select
        'inspection' as event,
        1 as step,
        'inspections' as evidence_table,
        vehicle_id,
        domain_id,
        listing_id,
        report_id,
        cast(null as bigint) as position,
        coalesce(plausible_date(inspected_at, last_day), plausible_date(created_at, last_day)) as occurred_at,
        case
            when plausible_date(inspected_at, last_day) is not null then inspected_at_local
            when plausible_date(created_at, last_day) is not null then created_at_local
        end as occurred_local,
        -- the odometer was read at some time up to then
        plausible_date(created_at, last_day) as read_at,
        cast(null as double) as amount,
        cast(null as string) as currency,
        vehicle_snapshot_mileage_km as odometer_km,
        'overall ' || coalesce(nullif(trim(conclusions_overall_result_key), ''), 'unknown')
            || ', accident ' || coalesce(nullif(trim(conclusions_accident_status_key), ''), 'unknown') as description
    from inspections
    cross join dim_settings
    where vehicle_id is not null
    union all
    select
        'history_report',
        2,
        'history_reports',
        vehicle_id,
        domain_id,
        listing_id,
        report_id,
        null,
        coalesce(plausible_date(checked_at, last_day), plausible_date(created_at, last_day)),
        case
            when plausible_date(checked_at, last_day) is not null then checked_at_local
            when plausible_date(created_at, last_day) is not null then created_at_local
        end,
        plausible_date(created_at, last_day),
        null,
        null,
        vehicle_snapshot_mileage_km,
        'claims ' || coalesce(cast(summary_insurance_claim_count as string), 'unknown')
            || ', owner changes ' || coalesce(cast(summary_owner_change_count as string), 'unknown')
    from history_reports
    cross join dim_settings
    where vehicle_id is not null
    union all
    select
        event,
        step,
        evidence_table,
        vehicle_id,
        domain_id,
        listing_id,
        report_id,
        position,
        occurred_at,
        occurred_local,
        read_at,
        amount,
        currency,
        odometer_km,
        description
    from timeline_report_entries
),
lots_by_number as (
    select vehicle_id, domain_id, lot, max(lot_id) as lot_id from known_lots group by all
)
select
    report_events.vehicle_id,
    report_events.domain_id,
    lots_by_number.lot_id,
    report_events.listing_id as lot,
    case when report_events.amount is not null then report_events.currency end as currency,
    report_events.event,
    -- of dates that begin together, the more precise one first
    report_events.step + 19 - length(coalesce(report_events.occurred_local, '')) as step,
    case when report_events.occurred_local is not null then report_events.occurred_at end as occurred_at,
    report_events.occurred_local,
    case length(report_events.occurred_local)
        when 4 then 'year'
        when 7 then 'month'
        when 10 then 'day'
        when 19 then 'datetime'
        else 'unknown'
    end as date_precision_key,
    report_events.evidence_table,
    coalesce(cast(report_events.domain_id as string), '') || '/' || coalesce(report_events.listing_id, '') || '/'
        || report_events.report_id || coalesce('/' || cast(report_events.position as string), '') as evidence_id,
    report_events.position,
    report_events.amount,
    report_events.odometer_km,
    case
        when report_events.read_at is not null and report_events.odometer_km between 1 and 2000000
        then report_events.odometer_km
    end as reading_km,
    day_of(report_events.read_at) as read_on,
    report_events.description
from report_events
left join lots_by_number
    on lots_by_number.vehicle_id = report_events.vehicle_id
    and lots_by_number.domain_id = report_events.domain_id
    and lots_by_number.lot = report_events.listing_id
