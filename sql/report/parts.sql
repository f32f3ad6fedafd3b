-- Parts with the greatest share of issues among those that inspectors looked at, with their most frequent issue.
with issues as (
    select block_key, part_key, issue_type_key, sum(found_items) as found
    from inspection_issues
    where level = 'issue'
    group by all
),
usual as (
    select block_key, part_key, first(issue_type_key order by found desc, issue_type_key) as issue_type_key
    from issues
    group by all
)
select
    p.*,
    p.found_share as value,
    p.unknown_items + p.not_checked_items as unknown,
    u.issue_type_key as usual
from inspection_issues as p
left join usual as u on u.block_key = p.block_key and u.part_key = p.part_key
where p.level = 'part' and p.looked_at > 0
order by p.found_share desc nulls last, p.looked_at desc, p.block_key, p.part_key
limit 14
