with sightings as (
    select lot_id, seen_at from next.sightings where lot_id is not null
)
select
    lot_id,
    true as archived,
    coalesce(archive_feed.archived_at, facts.seen_at) as archived_at,
    if(archive_feed.lot_id is null, 'absence', 'archive-feed') as archived_by,
    sightings.seen_at as last_seen_at
from base.lots
cross join run.facts
left join sightings using (lot_id)
-- the archive feed counts only if it archived the lot after the lot was last seen
left join run.archive_feed
    on archive_feed.lot_id = lots.lot_id and archive_feed.archived_at > sightings.seen_at
left join run.absent_lots as absent on absent.lot_id = lots.lot_id
anti join counted.lots as delivered on delivered.lot_id = lots.lot_id
where lots.archived is not true and (archive_feed.lot_id is not null or absent.lot_id is not null)
