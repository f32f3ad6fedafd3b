select manufacturer_id, max(trim(manufacturer_name)) as manufacturer_name
from vehicles
where manufacturer_id is not null
group by all
