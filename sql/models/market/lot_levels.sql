with generations as (
    -- a null would be taken for a level above
    select
        lot_groups.lot_id,
        coalesce(domain_id, -1) as domain_id,
        coalesce(manufacturer_id, -1) as manufacturer_id,
        coalesce(model_id, -1) as model_id,
        coalesce(generation_id, -1) as generation_id
    from lot_groups
    left join vehicle_facts on vehicle_facts.vehicle_id = lot_groups.vehicle_id
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
places as (
    select
        *,
        '/' || domain_id as source_place,
        source_place || '/' || manufacturer_id as make_place,
        make_place || '/' || model_id as model_place,
        model_place || '/' || generation_id as generation_place
    from generations
),
levels as (
    select *
    from (values (0, 'all'), (1, 'source'), (2, 'make'), (3, 'model'), (4, 'generation')) as levels (depth, level)
)
select
    lot_id,
    level,
    depth,
    case level
        when 'all' then ''
        when 'source' then source_place
        when 'make' then make_place
        when 'model' then model_place
        else generation_place
    end as place,
    case when depth >= 1 then domain_id end as domain_id,
    case when depth >= 2 then manufacturer_id end as manufacturer_id,
    case when depth >= 3 then model_id end as model_id,
    case when depth = 4 then generation_id end as generation_id
from places
cross join levels
