-- description: The parts have as many items in inspection_issues as in the inspections, and each issue of a part has a type.
-- severity: error
with source_inspections as (
    select domain_id, listing_id, report_id
    from inspections
    where gone_at is null
),
source_items as (
    select
        checked_items.block_key,
        checked_items.part_key,
        checked_items.result_key
    from checked_items
    inner join source_inspections
        on source_inspections.report_id = checked_items.report_id
        and source_inspections.listing_id is not distinct from checked_items.listing_id
        and source_inspections.domain_id is not distinct from checked_items.domain_id
    where checked_items.gone_at is null
),
expected as (
    select
        coalesce(nullif(trim(block_key), ''), 'unknown') as block_key,
        coalesce(nullif(trim(part_key), ''), 'unknown') as part_key,
        count(*) as items,
        count(case when trim(result_key) = 'issue' then 1 end) as issue_items
    from source_items
    group by coalesce(nullif(trim(block_key), ''), 'unknown'), coalesce(nullif(trim(part_key), ''), 'unknown')
),
actual as (
    select
        block_key,
        part_key,
        sum(case when level = 'part' then items else 0 end) as items,
        sum(case when level = 'part' then issue_items else 0 end) as issue_items,
        sum(case when level = 'issue' then found_items else 0 end) as found_items
    from inspection_issues
    group by block_key, part_key
),
final as (
    select
        coalesce(expected.block_key, actual.block_key) as block_key,
        coalesce(expected.part_key, actual.part_key) as part_key,
        coalesce(expected.items, 0) as expected_items,
        coalesce(actual.items, 0) as actual_items,
        coalesce(expected.issue_items, 0) as expected_issue_items,
        coalesce(actual.issue_items, 0) as actual_issue_items,
        coalesce(actual.found_items, 0) as found_items
    from expected
    full join actual on actual.block_key = expected.block_key and actual.part_key = expected.part_key
)
select * from final
where expected_items <> actual_items
    or expected_issue_items <> actual_issue_items
    or found_items < expected_issue_items
