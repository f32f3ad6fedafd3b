with generation_names as (
    select generation_id, max(trim(generation_name)) as generation_name from vehicles group by generation_id
),
groups as (
    select
        place,
        level,
        nullif(domain_id, -1) as domain_id,
        nullif(manufacturer_id, -1) as manufacturer_id,
        nullif(model_id, -1) as model_id,
        nullif(generation_id, -1) as generation_id
    from groups_above
    where above_depth = depth
)
select
    place,
    level,
    domain_id,
    domain_name,
    manufacturer_id,
    manufacturer_name,
    model_id,
    model_name,
    generation_id,
    generation_name
from groups
left join dim_sources using (domain_id)
left join dim_manufacturers using (manufacturer_id)
left join dim_models using (model_id)
left join generation_names using (generation_id)
