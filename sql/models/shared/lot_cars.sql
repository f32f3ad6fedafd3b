with told_lots as (
    -- the lots of the lake, and those that only the archive feed told of
    select
        coalesce(lots.lot_id, archived.lot_id) as lot_id,
        case when lots.lot_id is null then archived.vehicle_id else lots.vehicle_id end as vehicle_id,
        -- a lot that is in the feed is of the car that the feed has
        case when coalesce(lots.archived, lots.lot_id is null) then archived.vin end as archived_vin
    from lots
    full join last_archivings as archived on archived.lot_id = lots.lot_id
),
judged as (
    -- a corrected VIN keeps its beginning or its serial number; a VIN of one character is a placeholder
    select
        told_lots.lot_id,
        told_lots.vehicle_id,
        archived_vin,
        coalesce(
            regexp_matches(archived_vin, '^[A-HJ-NPR-Z0-9]{17}$')
                and replace(archived_vin, left(archived_vin, 1), '') <> ''
                and head_of_vin(archived_vin) <> head_of_vin(vin)
                and substring(archived_vin, 12, 6) <> serial
                and is_valid
                and reason is distinct from 'placeholder',
            false
        ) as is_other_car
    from told_lots
    left join vin_facts on vin_facts.vehicle_id = case when archived_vin is not null then told_lots.vehicle_id end
),
known as (
    -- of a car that the lake lacks, the VIN tells what it has in common with others
    select
        judged.lot_id,
        case when not is_other_car then judged.vehicle_id end as vehicle_id,
        case when is_other_car or facts.vehicle_id is null then head_of_vin(archived_vin) end as vin_head,
        facts.manufacturer_id,
        facts.model_id,
        facts.generation_id,
        facts.year,
        facts.year_origin
    from judged
    left join vehicle_facts as facts on facts.vehicle_id = case when not is_other_car then judged.vehicle_id end
)
select
    lot_id,
    vehicle_id,
    coalesce(known.manufacturer_id, heads.manufacturer_id) as manufacturer_id,
    coalesce(known.model_id, heads.model_id) as model_id,
    coalesce(known.generation_id, heads.generation_id) as generation_id,
    coalesce(known.year, heads.year) as year,
    coalesce(year_origin, case when heads.year is not null then 'vin' end, 'unknown') as year_origin
from known
left join dim_vin_heads as heads on heads.vin_head = known.vin_head
