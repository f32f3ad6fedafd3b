select lot_id, max(archived_at) as archived_at from stage.archived_lots group by all
