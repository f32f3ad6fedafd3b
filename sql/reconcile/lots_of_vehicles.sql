select
    vehicle_id,
    bool_and(archived is true) as all_archived,
    max(archived_at) as archived_at,
    -- of lots archived at the same time, what says most: feed, then archive-feed, then absence
    max_by(archived_by, (archived_at, archived_by)) filter (archived_at is not null) as archived_by,
    max(last_seen_at) as last_seen_at,
    bool_or(lots.run_id = facts.run_id) as is_news
from next.lots
cross join run.facts
group by all
