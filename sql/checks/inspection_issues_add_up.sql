-- description: The types of issues of a part in inspection_issues are found at least once for each of its issues.
-- severity: error
select
    block_key,
    part_key,
    max(issue_items) as issue_items,
    sum(case when level = 'issue' then found_items else 0 end) as found_items
from inspection_issues
group by block_key, part_key
having sum(case when level = 'issue' then found_items else 0 end) < max(issue_items)
