with generations as (
    -- a null would be taken for a level above
    select
        lots.lot_id,
        coalesce(domain_id, -1) as domain_id,
        coalesce(manufacturer_id, -1) as manufacturer_id,
        coalesce(model_id, -1) as model_id,
        coalesce(generation_id, -1) as generation_id
    from lot_groups as lots
    left join vehicle_facts on vehicle_facts.vehicle_id = lots.vehicle_id
    union all
    select distinct
        lot_id,
        coalesce(domain_id, -1),
        coalesce(manufacturer_id, -1),
        coalesce(model_id, -1),
        coalesce(generation_id, -1)
    from sales
    where evidence = 'archive_only'
),
levels as (
    select *
    from (values (0, 'all'), (1, 'source'), (2, 'make'), (3, 'model'), (4, 'generation')) as levels (depth, level)
)
select
    lot_id,
    level,
    depth,
    case when depth >= 1 then '/' || domain_id else '' end
        || case when depth >= 2 then '/' || manufacturer_id else '' end
        || case when depth >= 3 then '/' || model_id else '' end
        || case when depth = 4 then '/' || generation_id else '' end as place,
    case when depth >= 1 then domain_id end as domain_id,
    case when depth >= 2 then manufacturer_id end as manufacturer_id,
    case when depth >= 3 then model_id end as model_id,
    case when depth = 4 then generation_id end as generation_id
from generations
cross join levels
