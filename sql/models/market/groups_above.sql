with levels as (
    select *
    from (values (0, 'all'), (1, 'source'), (2, 'make'), (3, 'model'), (4, 'generation')) as levels (depth, level)
),
generations as (
    select distinct domain_id, manufacturer_id, model_id, generation_id, generation_place from lot_generations
),
groups as (
    -- each generation with the groups that it lies in
    select
        generation_place,
        level,
        depth,
        case when depth >= 1 then '/' || domain_id else '' end
            || case when depth >= 2 then '/' || manufacturer_id else '' end
            || case when depth >= 3 then '/' || model_id else '' end
            || case when depth >= 4 then '/' || generation_id else '' end as place,
        case when depth >= 1 then domain_id end as domain_id,
        case when depth >= 2 then manufacturer_id end as manufacturer_id,
        case when depth >= 3 then model_id end as model_id,
        case when depth >= 4 then generation_id end as generation_id
    from generations
    cross join levels
)
select distinct
    groups.place,
    groups.level,
    groups.depth,
    groups.domain_id,
    groups.manufacturer_id,
    groups.model_id,
    groups.generation_id,
    above.place as above_place,
    above.level as above_level,
    above.depth as above_depth
from groups
inner join groups as above on above.generation_place = groups.generation_place and above.depth <= groups.depth
