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
        -- the feed lists active lots: it ends every archiving but its own. A lookup ends none.
        lots.archived and (not facts.is_from_feed or lots.archived_by = 'feed') as stands
    from base.lots as lots
    cross join facts
),
named as (
    select
        lots.*,
        known.archived as _known_archived,
        known.stands as _known_stands,
        known.archived_at as _known_archived_at,
        known.archived_by as _known_archived_by,
        known.last_seen_at as _known_last_seen_at,
        facts.seen_at as _pass_at,
        case
            -- a run that ended since this pass began may have read the archive feed already
            when facts.is_resumed and known.archived_by = 'archive-feed'
            then greatest(archive_feed.archived_at, known.archived_at)
            else archive_feed.archived_at
        end as _named_at
    from current.lots as lots
    cross join facts
    left join known on known.lot_id = lots.lot_id
    left join archive_feed on archive_feed.lot_id = lots.lot_id
),
judged as (
    select
        named.*,
        -- what the record says of its archiving stands until the feed says otherwise
        coalesce(_archived, _known_stands, false) as _by_feed,
        coalesce(_named_at > _pass_at, false) as _by_archive_feed
    from named
)
select
    judged.*,
    _by_feed or _by_archive_feed as archived,
    case
        when _by_feed then coalesce(_archived_at, case when _known_stands then _known_archived_at end, _pass_at)
        when _by_archive_feed then _named_at
    end as archived_at,
    case
        when _by_feed and _archived then 'feed'
        when _by_feed then coalesce(case when _known_stands then _known_archived_by end, 'feed')
        when _by_archive_feed then 'archive-feed'
    end as archived_by,
    case
        when _by_feed or _by_archive_feed
        then coalesce(case when _known_archived then _known_last_seen_at end, _pass_at)
    end as last_seen_at
from judged
