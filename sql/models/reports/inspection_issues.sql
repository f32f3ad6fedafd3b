with source_inspections as (
    select domain_id, listing_id, report_id
    from inspections
    where gone_at is null
),
source_items as (
    select
        domain_id,
        listing_id,
        report_id,
        position,
        coalesce(nullif(trim(block_key), ''), 'unknown') as block_key,
        coalesce(nullif(trim(part_key), ''), 'unknown') as part_key,
        coalesce(nullif(trim(result_key), ''), 'unknown') as result_key,
        coalesce(nullif(trim(severity_key), ''), 'unspecified') as severity_key,
        issue_type_keys
    from checked_items
    where gone_at is null
),
items as (
    select
        source_items.domain_id,
        source_items.listing_id,
        source_items.report_id,
        source_items.position,
        source_items.block_key,
        source_items.part_key,
        source_items.result_key,
        source_items.severity_key,
        source_items.issue_type_keys
    from source_items
    inner join source_inspections
        on source_inspections.report_id = source_items.report_id
        and source_inspections.listing_id is not distinct from source_items.listing_id
        and source_inspections.domain_id is not distinct from source_items.domain_id
),
parts_by_report as (
    select
        domain_id,
        listing_id,
        report_id,
        block_key,
        part_key,
        count(*) as items,
        count(case when result_key = 'ok' then 1 end) as ok_items,
        count(case when result_key = 'issue' then 1 end) as issue_items,
        count(case when result_key = 'unknown' then 1 end) as unknown_items,
        count(case when result_key = 'not_checked' then 1 end) as not_checked_items,
        count(case when result_key = 'not_applicable' then 1 end) as not_applicable_items,
        count(case when result_key = 'not_equipped' then 1 end) as not_equipped_items
    from items
    group by domain_id, listing_id, report_id, block_key, part_key
),
parts as (
    select
        block_key,
        part_key,
        cast(sum(items) as bigint) as items,
        cast(sum(ok_items) as bigint) as ok_items,
        cast(sum(issue_items) as bigint) as issue_items,
        cast(sum(unknown_items) as bigint) as unknown_items,
        cast(sum(not_checked_items) as bigint) as not_checked_items,
        cast(sum(not_applicable_items) as bigint) as not_applicable_items,
        cast(sum(not_equipped_items) as bigint) as not_equipped_items,
        count(case when ok_items + issue_items > 0 then 1 end) as reports
    from parts_by_report
    group by block_key, part_key
),
issues as (
    select domain_id, listing_id, report_id, position, block_key, part_key, severity_key, issue_type_keys
    from items
    where result_key = 'issue'
),
listed_types as (
    select issues.domain_id, issues.listing_id, issues.report_id, issues.position, keys.issue_type_key
    from issues
    cross join lateral unnest(issues.issue_type_keys) as keys(issue_type_key)
),
named_types as (
    -- an item that names a type twice counts once
    select domain_id, listing_id, report_id, position, trim(issue_type_key) as issue_type_key
    from listed_types
    where trim(issue_type_key) <> ''
    group by domain_id, listing_id, report_id, position, trim(issue_type_key)
),
found as (
    select
        issues.block_key,
        issues.part_key,
        coalesce(named_types.issue_type_key, 'unspecified') as issue_type_key,
        issues.severity_key,
        count(*) as found_items
    from issues
    left join named_types
        on named_types.report_id = issues.report_id
        and named_types.position = issues.position
        and named_types.listing_id is not distinct from issues.listing_id
        and named_types.domain_id is not distinct from issues.domain_id
    group by
        issues.block_key,
        issues.part_key,
        coalesce(named_types.issue_type_key, 'unspecified'),
        issues.severity_key
),
levels as (
    select
        'part' as level,
        block_key,
        part_key,
        cast(null as string) as issue_type_key,
        cast(null as string) as severity_key,
        issue_items as found_items
    from parts
    union all
    select
        'issue' as level,
        block_key,
        part_key,
        issue_type_key,
        severity_key,
        found_items
    from found
),
final as (
    select
        levels.level,
        levels.block_key,
        levels.part_key,
        levels.issue_type_key,
        levels.severity_key,
        parts.items,
        parts.ok_items + parts.issue_items as looked_at,
        parts.ok_items,
        parts.issue_items,
        parts.unknown_items,
        parts.not_checked_items,
        parts.not_applicable_items,
        parts.not_equipped_items,
        parts.items - parts.ok_items - parts.issue_items - parts.unknown_items - parts.not_checked_items
            - parts.not_applicable_items - parts.not_equipped_items as other_items,
        levels.found_items,
        case
            when parts.ok_items + parts.issue_items >= settings.minimum_group
            then cast(levels.found_items as double) / (parts.ok_items + parts.issue_items)
        end as found_share,
        parts.reports
    from levels
    inner join parts on parts.block_key = levels.block_key and parts.part_key = levels.part_key
    cross join dim_settings as settings
)
select * from final
