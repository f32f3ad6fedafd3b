-- kind: what the lots of a row have in common besides their source; never null, so that models can join by it
select
    levels.level,
    lot_days.*,
    case levels.level
        when 'make' then coalesce(cast(manufacturer_id as string), '')
        when 'model'
        then coalesce(cast(manufacturer_id as string), '') || '/' || coalesce(cast(model_id as string), '')
        when 'title' then title_brand
        when 'estimate' then estimate_band
        else ''
    end as kind
from lot_days
cross join (values ('source'), ('make'), ('model'), ('title'), ('estimate')) as levels (level)
