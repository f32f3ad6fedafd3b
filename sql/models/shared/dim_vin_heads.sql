select
    head_of_vin(vin) as vin_head,
    count(*) as vehicles,
    case when min(manufacturer_id) = max(manufacturer_id) then min(manufacturer_id) end as manufacturer_id,
    case when min(model_id) = max(model_id) then min(model_id) end as model_id,
    case when min(generation_id) = max(generation_id) then min(generation_id) end as generation_id,
    case when min(year) = max(year) then min(year) end as year
from vin_facts
inner join vehicle_facts using (vehicle_id)
where is_valid
group by all
