with source_reports as (
    select domain_id, listing_id, report_id
    from history_reports
    where gone_at is null
),
source_checks as (
    select
        domain_id,
        listing_id,
        report_id,
        coalesce(nullif(trim(type_key), ''), 'unknown') as type_key,
        coalesce(nullif(trim(result_key), ''), 'unknown') as result_key,
        count as found_count
    from checks
    where gone_at is null
),
results_by_report as (
    select
        source_checks.domain_id,
        source_checks.listing_id,
        source_checks.report_id,
        source_checks.type_key,
        source_checks.result_key,
        count(*) as checks,
        sum(source_checks.found_count) as count_sum
    from source_checks
    inner join source_reports
        on source_reports.report_id = source_checks.report_id
        and source_reports.listing_id is not distinct from source_checks.listing_id
        and source_reports.domain_id is not distinct from source_checks.domain_id
    group by
        source_checks.domain_id,
        source_checks.listing_id,
        source_checks.report_id,
        source_checks.type_key,
        source_checks.result_key
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
    group by domain_id, type_key, result_key
),
types as (
    select
        domain_id,
        type_key,
        sum(checks) as checks,
        cast(sum(case when result_key in ('present', 'not_present') then checks else 0 end) as bigint) as known_checks,
        sum(case when result_key = 'present' then checks else 0 end) as present_checks
    from results
    group by domain_id, type_key
),
final as (
    select
        results.domain_id,
        source_names.domain_name,
        results.type_key,
        results.result_key,
        results.checks,
        cast(results.checks as double) / types.checks as share,
        results.reports,
        types.known_checks,
        case
            when types.known_checks >= settings.minimum_group
            then cast(types.present_checks as double) / types.known_checks
        end as present_share,
        results.count_sum
    from results
    inner join types
        on types.type_key = results.type_key
        and types.domain_id is not distinct from results.domain_id
    cross join dim_settings as settings
    left join dim_sources as source_names on source_names.domain_id = results.domain_id
)
select * from final
