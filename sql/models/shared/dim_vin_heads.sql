with vins as (
    select upper(trim(vin)) as clean_vin, manufacturer_id, model_id, generation_id, year from vehicles
)
-- by ISO 3779 the first eight characters tell make, model and engine, and in North America the tenth the model year
select
    left(clean_vin, 8) || substring(clean_vin, 10, 1) as vin_head,
    count(*) as vehicles,
    case when min(manufacturer_id) = max(manufacturer_id) then min(manufacturer_id) end as manufacturer_id,
    case when min(model_id) = max(model_id) then min(model_id) end as model_id,
    case when min(generation_id) = max(generation_id) then min(generation_id) end as generation_id,
    case when min(year) = max(year) then min(year) end as year
from vins
where regexp_matches(clean_vin, '^[A-HJ-NPR-Z0-9]{17}$')
group by all
