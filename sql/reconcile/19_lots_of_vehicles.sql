with facts as (
    select run_id from run.facts
),
lots as (
    select vehicle_id, archived, archived_at, archived_by, last_seen_at, run_id from next.lots
)
select
    lots.vehicle_id,
    bool_and(coalesce(lots.archived, false)) as all_archived,
    max(lots.archived_at) as archived_at,
    max_by(lots.archived_by, lots.archived_at) as archived_by,
    max(lots.last_seen_at) as last_seen_at,
    bool_or(lots.run_id = facts.run_id) as is_news
from lots
cross join facts
group by lots.vehicle_id
