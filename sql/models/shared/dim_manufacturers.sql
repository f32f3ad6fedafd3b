with counted as (
    select
        manufacturer_id,
        coalesce(vehicle_type_id, 1) as vehicle_type_id,
        max(trim(manufacturer_name)) as name,
        count(*) as vehicles
    from vehicles
    where manufacturer_id is not null
    group by all
),
ranked as (
    select
        manufacturer_id,
        vehicle_type_id,
        max(name) over (partition by manufacturer_id) as manufacturer_name,
        row_number() over (
            partition by manufacturer_id order by vehicles desc nulls last, vehicle_type_id nulls last
        ) as place
    from counted
),
named as (
    -- an id counts for the type of most of its vehicles; one without a name is like no other
    select
        ranked.manufacturer_id,
        vehicle_type_id,
        manufacturer_name,
        coalesce(nullif(plain_name(manufacturer_name), ''), '/' || ranked.manufacturer_id) as spelling,
        own.joined_to as own_join
    from ranked
    left join manufacturer_joins as own on own.manufacturer_id = ranked.manufacturer_id
    where place = 1
),
joined as (
    -- the smallest id of a name; what the seed says of an id comes before its name
    select
        manufacturer_id,
        manufacturer_name,
        coalesce(
            own_join,
            min(case when own_join is null then manufacturer_id end) over (partition by spelling, vehicle_type_id)
        ) as joined_to
    from named
)
-- the seed may name an id that is joined by its name
select
    joined.manufacturer_id,
    joined.manufacturer_name,
    coalesce(kept.joined_to, joined.joined_to) as joined_to
from joined
left join joined as kept on kept.manufacturer_id = joined.joined_to
