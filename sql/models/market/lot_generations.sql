with generations as (
    -- a null would be taken for a level above
    select
        lot_groups.lot_id,
        coalesce(domain_id, -1) as domain_id,
        coalesce(manufacturer_id, -1) as manufacturer_id,
        coalesce(model_id, -1) as model_id,
        coalesce(generation_id, -1) as generation_id
    from lot_groups
    left join lot_cars on lot_cars.lot_id = lot_groups.lot_id
    union all
    select distinct
        lot_id,
        coalesce(domain_id, -1),
        coalesce(manufacturer_id, -1),
        coalesce(model_id, -1),
        coalesce(generation_id, -1)
    from sales
    where evidence = 'archive_only'
)
select
    *,
    '/' || domain_id || '/' || manufacturer_id || '/' || model_id || '/' || generation_id as generation_place
from generations
