-- description: Each type has as many checks in check_breakdown as in the history reports, and its shares add to 1.
-- severity: error
with source_reports as (
    select domain_id, listing_id, report_id
    from history_reports
    where gone_at is null
),
expected as (
    select
        checks.domain_id,
        coalesce(nullif(trim(checks.type_key), ''), 'unknown') as type_key,
        count(*) as checks
    from checks
    inner join source_reports
        on source_reports.report_id = checks.report_id
        and source_reports.listing_id is not distinct from checks.listing_id
        and source_reports.domain_id is not distinct from checks.domain_id
    where checks.gone_at is null
    group by checks.domain_id, coalesce(nullif(trim(checks.type_key), ''), 'unknown')
),
actual as (
    select
        domain_id,
        type_key,
        sum(checks) as checks,
        sum(share) as shares
    from check_breakdown
    group by domain_id, type_key
),
final as (
    select
        coalesce(expected.domain_id, actual.domain_id) as domain_id,
        coalesce(expected.type_key, actual.type_key) as type_key,
        coalesce(expected.checks, 0) as expected_checks,
        coalesce(actual.checks, 0) as actual_checks,
        coalesce(actual.shares, 0) as shares
    from expected
    full join actual
        on actual.type_key = expected.type_key
        and actual.domain_id is not distinct from expected.domain_id
)
select * from final
where expected_checks <> actual_checks or abs(shares - 1) > 0.000001
