with facts as (
    select seen_at from run.facts
),
active as (
    select lot_id from base.lots where not coalesce(archived, false)
),
sightings as (
    select lot_id, seen_at from next.sightings where lot_id is not null
),
candidates as (
    select
        active.lot_id,
        sightings.seen_at as last_seen_at,
        archive_feed.archived_at as archive_feed_at,
        -- the archive feed counts only if it archived the lot after the lot was last seen
        coalesce(archive_feed.archived_at > sightings.seen_at, false) as is_archived_by_archive_feed,
        absent.lot_id is not null as is_absent
    from active
    left join sightings on sightings.lot_id = active.lot_id
    left join run.archive_feed as archive_feed on archive_feed.lot_id = active.lot_id
    left join run.absent_lots as absent on absent.lot_id = active.lot_id
    where active.lot_id not in (select lot_id from current.lots)
)
select
    candidates.lot_id,
    true as archived,
    case when candidates.is_archived_by_archive_feed then candidates.archive_feed_at else facts.seen_at end as archived_at,
    case when candidates.is_archived_by_archive_feed then 'archive-feed' else 'absence' end as archived_by,
    candidates.last_seen_at
from candidates
cross join facts
where candidates.is_archived_by_archive_feed or candidates.is_absent
