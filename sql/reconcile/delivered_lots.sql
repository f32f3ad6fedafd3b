with known as (
    select
        lot_id,
        archived_at,
        archived_by,
        last_seen_at,
        -- A pass over the feed lists active lots, so it ends every archiving except the record's own. A lookup ends none.
        not facts.is_from_feed or archived_by = 'feed' as stands
    from base.lots
    cross join run.facts
    where archived
)
select
    lots.*,
    -- a time after the last request is no time
    case when lots._archived_at <= facts.ended_at then lots._archived_at end as _said_at,
    -- a record with a time alone says that the lot is archived
    coalesce(lots._archived, case when _said_at is not null then true end) as _says,
    -- an archiving from the record stands until the feed says otherwise
    coalesce(_says, known.stands, false) as _is_archived_by_record,
    -- since this pass began, another run may already have read the archive feed
    greatest(
        archive_feed.archived_at,
        case when facts.is_resumed and known.archived_by = 'archive-feed' then known.archived_at end
    ) as _archive_feed_at,
    coalesce(_archive_feed_at > facts.seen_at, false) as _is_archived_by_archive_feed,
    _is_archived_by_record or _is_archived_by_archive_feed as archived,
    case
        when _is_archived_by_record
        then coalesce(_said_at, case when known.stands then known.archived_at end, facts.seen_at)
        when _is_archived_by_archive_feed then _archive_feed_at
    end as archived_at,
    case
        when _says then 'feed'
        when _is_archived_by_record then coalesce(known.archived_by, 'feed')
        when _is_archived_by_archive_feed then 'archive-feed'
    end as archived_by,
    case
        when _is_archived_by_record or _is_archived_by_archive_feed
        then coalesce(known.last_seen_at, facts.seen_at)
    end as last_seen_at
from counted.lots
cross join run.facts
left join known using (lot_id)
left join run.archive_feed using (lot_id)
