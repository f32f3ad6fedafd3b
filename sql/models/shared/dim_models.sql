with counted as (
    select
        model_id,
        joined_to as maker,
        coalesce(vehicle_type_id, 1) as vehicle_type_id,
        max(trim(model_name)) as name,
        count(*) as vehicles
    from vehicles
    left join dim_manufacturers using (manufacturer_id)
    where model_id is not null
    group by all
),
ranked as (
    select
        model_id,
        maker,
        vehicle_type_id,
        max(name) over (partition by model_id) as model_name,
        row_number() over (
            partition by model_id order by vehicles desc nulls last, maker nulls last, vehicle_type_id nulls last
        ) as place
    from counted
),
named as (
    -- an id counts for the manufacturer and type of most of its vehicles; one without a name or manufacturer is like no other
    select
        ranked.model_id,
        maker,
        vehicle_type_id,
        model_name,
        coalesce(case when maker is not null then nullif(plain_name(model_name), '') end, '/' || ranked.model_id) as spelling,
        own.joined_to as own_join
    from ranked
    left join model_joins as own on own.model_id = ranked.model_id
    where place = 1
),
joined as (
    -- the smallest id of a name; what the seed says of an id comes before its name
    select
        model_id,
        model_name,
        coalesce(
            own_join,
            min(case when own_join is null then model_id end) over (partition by maker, vehicle_type_id, spelling)
        ) as joined_to
    from named
)
-- the seed may name an id that is joined by its name
select joined.model_id, joined.model_name, coalesce(kept.joined_to, joined.joined_to) as joined_to
from joined
left join joined as kept on kept.model_id = joined.joined_to
