select
    vehicle_id,
    bool_and(archived is true) as all_archived,
    max(archived_at) as archived_at,
    max_by(archived_by, archived_at) as archived_by,
    max(last_seen_at) as last_seen_at,
    bool_or(lots.run_id = facts.run_id) as is_news
from next.lots
cross join run.facts
group by all
