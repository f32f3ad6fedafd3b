-- description: Three of four lots that a source archived since lotlake first saw it are known, so that sales has their last values.
-- severity: warn
with watched as (
    select domain_id, min(first_seen_at) as watched_since
    from lots
    group by domain_id
),
final as (
    select
        archived_lots.domain_id,
        count(*) as records,
        count(lots.lot_id) as known
    from archived_lots
    inner join watched
        on watched.domain_id = archived_lots.domain_id
        and watched.watched_since < archived_lots.archived_at
    left join lots on lots.lot_id = archived_lots.lot_id
    group by archived_lots.domain_id
)
select * from final
where known < 0.75 * records
