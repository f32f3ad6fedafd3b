-- description: Each type has as many events in claim_history as in the history reports, with the same amounts in each currency.
-- severity: error
with source_reports as (
    select domain_id, listing_id, report_id
    from history_reports
    where gone_at is null
),
expected as (
    select
        coalesce(nullif(trim(events.type_key), ''), 'unknown') as type_key,
        case when events.amount_total is not null then nullif(upper(trim(events.currency)), '') end as currency,
        count(*) as events,
        coalesce(sum(events.amount_total), 0) as amount
    from events
    inner join source_reports
        on source_reports.report_id = events.report_id
        and source_reports.listing_id is not distinct from events.listing_id
        and source_reports.domain_id is not distinct from events.domain_id
    where events.gone_at is null
    group by
        coalesce(nullif(trim(events.type_key), ''), 'unknown'),
        case when events.amount_total is not null then nullif(upper(trim(events.currency)), '') end
),
actual as (
    select
        type_key,
        case when amount_total is not null then currency end as currency,
        count(*) as events,
        coalesce(sum(amount_total), 0) as amount
    from claim_history
    group by type_key, case when amount_total is not null then currency end
),
final as (
    select
        coalesce(expected.type_key, actual.type_key) as type_key,
        coalesce(expected.currency, actual.currency) as currency,
        coalesce(expected.events, 0) as expected_events,
        coalesce(actual.events, 0) as actual_events,
        coalesce(expected.amount, 0) as expected_amount,
        coalesce(actual.amount, 0) as actual_amount
    from expected
    full join actual
        on actual.type_key = expected.type_key
        and actual.currency is not distinct from expected.currency
)
select * from final
where expected_events <> actual_events
    or abs(expected_amount - actual_amount) > 0.000001 * greatest(abs(expected_amount), 1)
