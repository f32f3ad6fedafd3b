-- description: vehicle_timeline has each lot, auction attempt, archiving, report and history event of a vehicle once.
-- severity: error
with owned_lots as (
    select lot_id, created_at, first_seen_at from lots where vehicle_id is not null
),
known_lots as (
    select lot_id from owned_lots
    union all
    select archived_lots.lot_id
    from archived_lots
    left join lots on lots.lot_id = archived_lots.lot_id
    where lots.lot_id is null and archived_lots.vehicle_id is not null
    group by archived_lots.lot_id
),
expected as (
    select 'lots' as evidence_table, count(*) as events
    from owned_lots
    where coalesce(created_at, first_seen_at) is not null
    union all
    select 'sales', count(*) from sales inner join known_lots on known_lots.lot_id = sales.lot_id
    union all
    select 'archived_lots', count(*) from archived_lots inner join known_lots on known_lots.lot_id = archived_lots.lot_id
    union all
    select 'inspections', count(*) from inspections where vehicle_id is not null
    union all
    select 'history_reports', count(*) from history_reports where vehicle_id is not null
    union all
    select 'events', count(*)
    from events
    inner join history_reports
        on history_reports.report_id = events.report_id
        and history_reports.listing_id is not distinct from events.listing_id
        and history_reports.domain_id is not distinct from events.domain_id
        and history_reports.gone_at is not distinct from events.gone_at
    where history_reports.vehicle_id is not null
),
actual as (
    select evidence_table, count(*) as events
    from vehicle_timeline
    where evidence_table <> 'lots' or event = 'listed'
    group by evidence_table
),
final as (
    select expected.evidence_table, expected.events, coalesce(actual.events, 0) as timeline_events
    from expected
    left join actual on actual.evidence_table = expected.evidence_table
)
select * from final where events <> timeline_events
