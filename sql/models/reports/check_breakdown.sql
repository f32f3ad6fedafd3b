with results_by_report as (
    select
        checks.domain_id,
        checks.report_id,
        checks.listing_id,
        coalesce(nullif(trim(checks.type_key), ''), 'unknown') as type_key,
        coalesce(nullif(trim(checks.result_key), ''), 'unknown') as result_key,
        count(*) as checks,
        sum(checks.count) as count_sum
    from checks
    inner join history_reports as reports
        on reports.report_id = checks.report_id
        and reports.listing_id is not distinct from checks.listing_id
        and reports.domain_id is not distinct from checks.domain_id
    where checks.gone_at is null and reports.gone_at is null
    group by all
),
results as (
    select
        domain_id,
        type_key,
        result_key,
        cast(sum(checks) as bigint) as checks,
        count(*) as reports,
        cast(sum(count_sum) as bigint) as count_sum
    from results_by_report
    group by all
),
shares as (
    select
        *,
        checks / sum(checks) over of_type as share,
        cast(
            coalesce(sum(case when result_key in ('present', 'not_present') then checks end) over of_type, 0) as bigint
        ) as known_checks,
        coalesce(sum(case when result_key = 'present' then checks end) over of_type, 0) as present_checks
    from results
    window of_type as (partition by domain_id, type_key)
)
select
    domain_id,
    domain_name,
    type_key,
    result_key,
    checks,
    share,
    reports,
    known_checks,
    case when enough(known_checks) then present_checks / known_checks end as present_share,
    count_sum
from shares
left join dim_sources using (domain_id)
