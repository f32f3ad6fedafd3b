-- description: 95 of 100 checked items have the inspection that lists them.
-- severity: warn
with listed as (
    select count(*) as items
    from checked_items
    where gone_at is null
),
counted as (
    select coalesce(sum(items), 0) as matched
    from inspection_issues
    where level = 'part'
),
final as (
    select listed.items, counted.matched
    from listed
    cross join counted
)
select * from final
where matched < 0.95 * items
