with items as (
    select
        checked_items.domain_id,
        checked_items.listing_id,
        checked_items.report_id,
        checked_items.position,
        coalesce(nullif(trim(block_key), ''), 'unknown') as block_key,
        coalesce(nullif(trim(part_key), ''), 'unknown') as part_key,
        coalesce(nullif(trim(result_key), ''), 'unknown') as result_key,
        coalesce(nullif(trim(severity_key), ''), 'unspecified') as severity_key,
        issue_type_keys
    from checked_items
    inner join inspections
        on inspections.report_id = checked_items.report_id
        and inspections.listing_id is not distinct from checked_items.listing_id
        and inspections.domain_id is not distinct from checked_items.domain_id
    where checked_items.gone_at is null and inspections.gone_at is null
),
parts_by_report as (
    select
        domain_id,
        listing_id,
        report_id,
        block_key,
        part_key,
        count(*) as items,
        count(*) filter (where result_key = 'ok') as ok_items,
        count(*) filter (where result_key = 'issue') as issue_items,
        count(*) filter (where result_key = 'unknown') as unknown_items,
        count(*) filter (where result_key = 'not_checked') as not_checked_items,
        count(*) filter (where result_key = 'not_applicable') as not_applicable_items,
        count(*) filter (where result_key = 'not_equipped') as not_equipped_items
    from items
    group by all
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
        count(*) filter (where ok_items + issue_items > 0) as reports
    from parts_by_report
    group by all
),
issues as (
    select
        row_number() over (
            order by domain_id nulls last, listing_id nulls last, report_id nulls last, position nulls last
        ) as issue_number,
        block_key,
        part_key,
        severity_key,
        issue_type_keys
    from items
    where result_key = 'issue'
),
named_types as (
    -- an item that names a type twice counts once
    select distinct issues.issue_number, trim(keys.issue_type_key) as issue_type_key
    from issues
    cross join lateral unnest(issues.issue_type_keys) as keys(issue_type_key)
    where trim(keys.issue_type_key) <> ''
),
found as (
    select 'part' as level, block_key, part_key, null as issue_type_key, null as severity_key, issue_items as found_items
    from parts
    union all
    select 'issue', block_key, part_key, coalesce(issue_type_key, 'unspecified'), severity_key, count(*)
    from issues
    left join named_types using (issue_number)
    group by all
)
select
    level,
    block_key,
    part_key,
    issue_type_key,
    severity_key,
    items,
    ok_items + issue_items as looked_at,
    ok_items,
    issue_items,
    unknown_items,
    not_checked_items,
    not_applicable_items,
    not_equipped_items,
    items - ok_items - issue_items - unknown_items - not_checked_items - not_applicable_items - not_equipped_items
        as other_items,
    found_items,
    case when enough(ok_items + issue_items) then found_items / (ok_items + issue_items) end as found_share,
    reports
from found
inner join parts using (block_key, part_key)
