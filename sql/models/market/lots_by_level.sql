with levels as (
    select level from (values ('source'), ('make'), ('model'), ('title'), ('estimate')) as levels (level)
)
-- kind: what the lots of a row have in common besides their source; never null, so that models can join by it
select
    level,
    case level
        when 'make' then coalesce(cast(lot_days.manufacturer_id as string), '')
        when 'model'
        then coalesce(cast(lot_days.manufacturer_id as string), '') || '/' || coalesce(cast(lot_days.model_id as string), '')
        when 'title' then lot_days.title_brand
        when 'estimate' then lot_days.estimate_band
        else ''
    end as kind,
    lot_id,
    domain_id,
    case when level in ('make', 'model') then lot_days.manufacturer_id end as manufacturer_id,
    case when level = 'model' then lot_days.model_id end as model_id,
    case when level = 'title' then lot_days.title_brand end as title_brand,
    case when level = 'estimate' then lot_days.estimate_band end as estimate_band,
    observed_from,
    observed_to,
    first_age,
    last_age,
    watch_ended,
    is_sold,
    is_open,
    is_left,
    attempt,
    vehicle_attempt,
    sale_days,
    vehicle_days,
    open_days,
    left_days
from lot_days
cross join levels
