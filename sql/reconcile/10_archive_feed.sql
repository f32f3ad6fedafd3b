with archived_lots as (
    select lot_id, archived_at from stage.archived_lots
)
select lot_id, max(archived_at) as archived_at from archived_lots group by lot_id
