with dated as (
    select
        lot_id,
        archived_at,
        -- a time after the request that brought it is no time: the lot was archived at some time before that request
        archived_at > facts.ended_at as is_later
    from stage.archived_lots
    cross join run.facts
)
select
    lot_id,
    max(if(is_later, coalesce(known.first_seen_at, facts.seen_at), dated.archived_at)) as archived_at
from dated
cross join run.facts
-- an earlier run may have read the same record
left join base.archived_lots as known using (lot_id, archived_at)
group by all
