with facts as (
    select seen_at, is_resumed, is_from_feed from run.facts
),
archive_feed as (
    select lot_id, archived_at from run.archive_feed
),
known as (
    select
        lots.lot_id,
        lots.archived,
        lots.archived_at,
        lots.archived_by,
        lots.last_seen_at,
        -- A pass over the feed lists active lots, so it ends every archiving except the record's own. A lookup ends none.
        lots.archived and (not facts.is_from_feed or lots.archived_by = 'feed') as still_archived
    from base.lots as lots
    cross join facts
),
with_archive_feed as (
    select
        lots.*,
        known.archived as _known_archived,
        known.still_archived as _known_still_archived,
        known.archived_at as _known_archived_at,
        known.archived_by as _known_archived_by,
        known.last_seen_at as _known_last_seen_at,
        facts.seen_at as _pass_at,
        case
            -- since this pass began, another run may already have read the archive feed
            when facts.is_resumed and known.archived_by = 'archive-feed'
            then greatest(archive_feed.archived_at, known.archived_at)
            else archive_feed.archived_at
        end as _archive_feed_at
    from current.lots as lots
    cross join facts
    left join known on known.lot_id = lots.lot_id
    left join archive_feed on archive_feed.lot_id = lots.lot_id
),
decided as (
    select
        with_archive_feed.*,
        -- an archiving from the record stands until the feed says otherwise
        coalesce(_archived, _known_still_archived, false) as _is_archived_by_record,
        coalesce(_archive_feed_at > _pass_at, false) as _is_archived_by_archive_feed
    from with_archive_feed
)
select
    decided.*,
    _is_archived_by_record or _is_archived_by_archive_feed as archived,
    case
        when _is_archived_by_record
        then coalesce(_archived_at, case when _known_still_archived then _known_archived_at end, _pass_at)
        when _is_archived_by_archive_feed then _archive_feed_at
    end as archived_at,
    case
        when _is_archived_by_record and _archived then 'feed'
        when _is_archived_by_record then coalesce(case when _known_still_archived then _known_archived_by end, 'feed')
        when _is_archived_by_archive_feed then 'archive-feed'
    end as archived_by,
    case
        when _is_archived_by_record or _is_archived_by_archive_feed
        then coalesce(case when _known_archived then _known_last_seen_at end, _pass_at)
    end as last_seen_at
from decided
